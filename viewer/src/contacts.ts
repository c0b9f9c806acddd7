// The contact timeline: a row for each contact, filled while it touches; low and dashed while it slides, high and full
// while it sticks; impacts as marks.
import { kEdge, kGutter, Moment, type TimeRange, axisNumber } from "./chart";
import { h } from "./dom";
import { css, stateColors } from "./looks";
import type { Player } from "./player";
import type { Quantities } from "./quantities";
import type { Source } from "./source";
import type { EventRow } from "./types";

const kRow = 24;
const kAxis = 26;
const kMostRows = 20000;
const kMostContacts = 400;

interface Lane {
  name: string;
  t: Float64Array;
  state: Float64Array;
}

export class ContactTimeline {
  readonly element: HTMLElement;
  private canvas = h("canvas", { role: "img", "aria-label": "States of the contacts over time" });
  private names = h("ol", { class: "lanes" });
  private lanes: Lane[] = [];
  private impacts: EventRow[] = [];
  private moment: Moment;
  private scroller: HTMLElement;

  constructor(
    player: Player,
    private range: TimeRange,
    private source: Source,
    private quantities: Quantities,
    private contacts: string[],
  ) {
    this.moment = new Moment(player, (time) => (time < range.from || time > range.to ? null : kLeft + this.x(time)));
    const colors = stateColors();
    const key = (color: string, text: string, kind: string) =>
      h("li", {}, h("span", { class: `state ${kind}`, style: `--c:${color}` }), text);
    this.scroller = h("div", { class: "scroller" }, this.names, this.canvas, this.moment.line);
    this.element = h(
      "div",
      { class: "contacts" },
      h("ul", { class: "legend" }, key(colors.open, "open", "open"), key(colors.slide, "sliding", "slide"), key(colors.stick, "sticking", "stick"), key(css("event"), "impact", "impact")),
      this.scroller,
    );
    this.canvas.addEventListener("click", (e) => {
      player.followEnd = false;
      player.goto(this.time(e.offsetX));
    });
    range.listen(() => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.scroller);
  }

  get any(): boolean {
    return this.contacts.length > 0;
  }

  async load(rows: number, events: EventRow[]) {
    this.impacts = events.filter(([, kind]) => kind === "impact");
    const stride = Math.max(1, Math.ceil(rows / kMostRows));
    const known = this.contacts
      .slice(0, kMostContacts)
      .map((name) => ({ name, channel: this.quantities.channel(`${name}.state`) }))
      .filter((c) => c.channel >= 0);
    if (!known.length || !rows) return this.draw();
    const block = await this.source.rows("samples", known.map((c) => c.channel), 0, kMostRows + 1, stride);
    this.lanes = known.map((c, i) => ({ name: c.name, t: block.t, state: block.columns[i] }));
    this.draw();
  }

  private width() {
    return Math.max(50, this.canvas.clientWidth - kEdge);
  }
  private x(time: number) {
    return ((time - this.range.from) / (this.range.to - this.range.from)) * this.width();
  }
  private time(x: number) {
    return this.range.from + (x / this.width()) * (this.range.to - this.range.from);
  }

  draw() {
    if (!this.canvas.isConnected || !this.scroller.clientWidth) return;
    this.names.replaceChildren(...this.lanes.map((l) => h("li", { title: l.name }, l.name)));
    const height = Math.max(1, this.lanes.length) * kRow + kAxis;
    this.canvas.style.height = `${height}px`;
    const ratio = window.devicePixelRatio || 1;
    const width = this.canvas.clientWidth;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const g = this.canvas.getContext("2d")!;
    g.scale(ratio, ratio);
    const colors = stateColors();
    const right = this.width();
    const muted = css("muted");
    g.font = "11.5px system-ui, sans-serif";
    if (!this.lanes.length) {
      g.fillStyle = muted;
      g.fillText("No states of contacts are recorded in this result.", 8, 20);
      return;
    }
    g.save();
    g.beginPath();
    g.rect(0, 0, right, height);
    g.clip();
    this.lanes.forEach((lane, row) => {
      const top = row * kRow;
      g.fillStyle = css("gridline");
      g.fillRect(0, top + kRow - 0.5, right, 0.5);
      g.fillStyle = colors.open;
      g.globalAlpha = 0.55;
      g.fillRect(0, top + kRow - 5, right, 1.5);
      g.globalAlpha = 1;
      const { t, state } = lane;
      for (let i = 0; i < t.length; ) {
        const s = kindOf(state[i]);
        let j = i + 1;
        while (j < t.length && kindOf(state[j]) === s) ++j;
        const from = this.x(t[i]);
        const to = this.x(t[Math.min(j, t.length - 1)]);
        if (s !== 0 && to >= 0 && from <= right) {
          g.fillStyle = s === 2 ? colors.stick : colors.slide;
          const tall = s === 2 ? kRow - 8 : (kRow - 8) / 2;
          g.fillRect(from, top + kRow - 4 - tall, Math.max(1, to - from), tall);
        }
        i = j;
      }
    });
    g.fillStyle = css("event");
    const lane = new Map(this.lanes.map((l, i) => [l.name, i]));
    for (const [t, , element] of this.impacts) {
      const row = lane.get(element.replace(/\[\d+\]$/, "")) ?? lane.get(element);
      if (row === undefined) continue;
      const x = this.x(t);
      g.fillRect(x - 0.75, row * kRow + 3, 1.5, kRow - 6);
    }
    g.restore();
    // The axis of time.
    const bottom = this.lanes.length * kRow;
    g.fillStyle = muted;
    const step = niceStep((this.range.to - this.range.from) / Math.max(2, right / 90));
    for (let t = Math.ceil(this.range.from / step) * step; t <= this.range.to + 1e-9 * step; t += step) {
      const x = this.x(t);
      g.textAlign = x < 14 ? "left" : "center";
      g.fillRect(x, bottom, 1, 4);
      g.fillText(axisNumber(Math.abs(t) < 1e-9 * step ? 0 : Number(t.toPrecision(10))), x, bottom + 17);
    }
    this.moment.show();
  }
}

const kLeft = kGutter + 60; // width of the names
const kindOf = (state: number) => (state === 2 ? 2 : state !== 0 ? 1 : 0);
function niceStep(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x));
  for (const m of [1, 2, 5, 10]) if (m * power >= x) return m * power;
  return 10 * power;
}
