// The moment that is shown. Playing moves it with the clock; everything else listens.

export const kSpeeds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

export class Player {
  time = 0;
  playing = false;
  loop = true;
  speed = 1;
  first = 0;
  last = 0;
  followEnd = false; // of a run that goes on
  private listeners: ((what: "time" | "state") => void)[] = [];

  listen(listener: (what: "time" | "state") => void) {
    this.listeners.push(listener);
  }
  private tell(what: "time" | "state") {
    for (const listener of this.listeners) listener(what);
  }

  setRange(first: number, last: number) {
    const wasAtEnd = this.time >= this.last;
    this.first = first;
    this.last = last;
    if (this.followEnd && !this.playing && wasAtEnd) this.goto(last);
    else this.goto(this.time);
    this.tell("state");
  }

  // A speed at which the whole takes about ten seconds, real time where that suits.
  naturalSpeed() {
    const duration = this.last - this.first;
    this.speed = 1;
    if (duration > 1.5 && duration < 60) return;
    const wanted = duration / 10;
    this.speed = kSpeeds.reduce((best, s) => (Math.abs(Math.log(s / wanted)) < Math.abs(Math.log(best / wanted)) ? s : best), 1);
  }

  goto(time: number) {
    this.time = Math.min(this.last, Math.max(this.first, time));
    this.tell("time");
  }
  toggle(on = !this.playing) {
    this.playing = on;
    if (on && this.time >= this.last) this.time = this.first;
    this.tell("state");
  }
  setSpeed(speed: number) {
    this.speed = speed;
    this.tell("state");
  }
  changeSpeed(steps: number) {
    let at = kSpeeds.findIndex((s) => s >= this.speed * 0.999);
    if (at < 0) at = kSpeeds.length - 1;
    this.setSpeed(kSpeeds[Math.min(kSpeeds.length - 1, Math.max(0, at + steps))]);
  }
  setLoop(on: boolean) {
    this.loop = on;
    this.tell("state");
  }

  // A frame of the clock, dt in seconds.
  advance(dt: number) {
    if (!this.playing) return;
    let time = this.time + dt * this.speed;
    if (time > this.last) {
      if (this.loop && this.last > this.first) time = this.first + ((time - this.first) % (this.last - this.first));
      else {
        time = this.last;
        this.playing = false;
        this.tell("state");
      }
    }
    this.goto(time);
  }
}
