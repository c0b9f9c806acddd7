// Play, step, scrub, speed, loop: the row under the picture.
import { button, format, formatTime, h, icon } from "./dom";
import { kSpeeds, type Player } from "./player";
import type { EventRow } from "./types";

export class Transport {
  readonly element: HTMLElement;
  private play: HTMLButtonElement;
  private slider: HTMLInputElement;
  private clock: HTMLElement;
  private speed: HTMLSelectElement;
  private loop: HTMLButtonElement;
  private marks: HTMLCanvasElement;
  private events: EventRow[] = [];

  constructor(
    private player: Player,
    private step: () => number,
    jump: (rows: number) => void,
  ) {
    this.play = button("Play (space)", icon("play"), () => player.toggle(), { class: "play" });
    this.slider = h("input", {
      type: "range",
      min: 0,
      max: 1000000,
      step: 1,
      value: 0,
      "aria-label": "Time",
      oninput: () => {
        player.followEnd = false;
        player.goto(player.first + (Number(this.slider.value) / 1e6) * (player.last - player.first));
      },
    });
    this.clock = h("output", { class: "clock", "aria-live": "off" });
    this.speed = h("select", { "aria-label": "Speed", title: "Speed ([ slower, ] faster)", onchange: () => player.setSpeed(Number(this.speed.value)) });
    for (const s of kSpeeds) this.speed.append(h("option", { value: s }, `× ${s}`));
    this.loop = button("Loop (L)", icon("loop"), () => player.setLoop(!player.loop), { "aria-pressed": "true", class: "toggle" });
    this.marks = h("canvas", { class: "marks", "aria-hidden": "true" });
    this.element = h(
      "div",
      { class: "transport", role: "group", "aria-label": "Playback" },
      button("To the start (Home)", icon("first"), () => player.goto(player.first)),
      button("Sample back (←)", icon("back"), () => jump(-1)),
      this.play,
      button("Sample forward (→)", icon("next"), () => jump(1)),
      button("To the end (End)", icon("last"), () => player.goto(player.last)),
      h("div", { class: "scrub" }, this.marks, this.slider),
      this.clock,
      this.speed,
      this.loop,
    );
    player.listen((what) => (what === "time" ? this.showTime() : this.showState()));
    new ResizeObserver(() => this.drawMarks()).observe(this.marks);
    this.showState();
  }

  setEvents(events: EventRow[]) {
    this.events = events;
    this.drawMarks();
  }

  private showTime() {
    const { first, last, time } = this.player;
    const at = last > first ? (time - first) / (last - first) : 0;
    this.slider.value = String(Math.round(1e6 * at));
    this.slider.style.setProperty("--at", `${100 * at}%`);
    const text = `${formatTime(time, this.step())} s`;
    if (this.clock.textContent !== text) this.clock.textContent = text;
    this.slider.setAttribute("aria-valuetext", `${format(time)} seconds`);
  }

  private showState() {
    const { player } = this;
    const label = player.playing ? "Pause (space)" : "Play (space)";
    if (this.play.title !== label) {
      this.play.replaceChildren(icon(player.playing ? "pause" : "play"));
      this.play.title = label;
      this.play.setAttribute("aria-label", label);
    }
    this.loop.setAttribute("aria-pressed", String(player.loop));
    this.speed.value = String(player.speed);
    this.showTime();
    this.drawMarks();
  }

  private drawMarks() {
    const { clientWidth: width, clientHeight: height } = this.marks;
    if (!width) return;
    const ratio = window.devicePixelRatio || 1;
    this.marks.width = width * ratio;
    this.marks.height = height * ratio;
    const g = this.marks.getContext("2d")!;
    g.scale(ratio, ratio);
    const { first, last } = this.player;
    if (!(last > first)) return;
    g.fillStyle = getComputedStyle(this.marks).color;
    let drawn = -10;
    for (const [t] of this.events) {
      const x = 8 + ((t - first) / (last - first)) * (width - 16);
      if (x - drawn < 1) continue;
      drawn = x;
      g.fillRect(x - 0.5, 0, 1, height);
    }
  }
}
