// Stress over the skins of flexible bodies, as colours: rows of its own, loaded only while it is shown. The scale holds
// for the whole run: from zero to the largest value of the overview's rows, and further when a later row is larger.
import { format, h } from "./dom";
import type { Quantities } from "./quantities";
import type { Source } from "./source";
import type { Stage } from "./stage";
import { Timeline } from "./timeline";
import type { Scene } from "./types";

// From no stress to the largest: lightness rises and falls again only at the end, so that it can be read in grey too.
const kStops = ["#2b2f77", "#1f78b4", "#35b08c", "#c9d64a", "#f0a030", "#c92a2a"];
const kShades = 256;

function channelOf(text: string, at: number): number {
  return parseInt(text.slice(1 + 2 * at, 3 + 2 * at), 16) / 255;
}
// r g b of each shade, linear light as the renderer wants it.
const kMap = (() => {
  const map = new Float32Array(3 * kShades);
  for (let i = 0; i < kShades; ++i) {
    const x = (i / (kShades - 1)) * (kStops.length - 1);
    const k = Math.min(kStops.length - 2, Math.floor(x));
    for (let c = 0; c < 3; ++c) {
      const s = channelOf(kStops[k], c) + (x - k) * (channelOf(kStops[k + 1], c) - channelOf(kStops[k], c));
      map[3 * i + c] = s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    }
  }
  return map;
})();

// Colours of values between 0 and `most`.
export function shades(values: Float64Array, most: number, out: Float32Array) {
  const scale = most > 0 ? (kShades - 1) / most : 0;
  for (let i = 0; i < values.length; ++i) {
    const shade = 3 * Math.max(0, Math.min(kShades - 1, Math.round(scale * values[i])));
    out[3 * i] = kMap[shade];
    out[3 * i + 1] = kMap[shade + 1];
    out[3 * i + 2] = kMap[shade + 2];
  }
}

// 1.25e7 Pa -> "12.5 MPa"
export function pressure(value: number): string {
  const [unit, size] = ([["GPa", 1e9], ["MPa", 1e6], ["kPa", 1e3]] as const).find(([, s]) => value >= s) ?? ["Pa", 1];
  return `${format(value / size, 3)} ${unit}`;
}

export class StressView {
  on = false;
  most = 0; // of the scale, Pa
  now: [number, number] = [0, 0]; // smallest and largest at the moment shown
  readonly timeline: Timeline;
  readonly element: HTMLElement;
  private surfaces: { surface: number; values: Float64Array }[] = [];
  private largest = h("span", { class: "num" });
  private present = h("span", { class: "num" });

  constructor(source: Source, quantities: Quantities, scene: Scene) {
    const channels: number[] = [];
    const widths: number[] = [];
    scene.surfaces.forEach((s, surface) => {
      const channel = s.stress ? quantities.channel(s.stress) : -1;
      if (channel < 0) return;
      channels.push(channel);
      widths.push(quantities.channels[channel].width);
      this.surfaces.push({ surface, values: new Float64Array(quantities.channels[channel].width) });
    });
    this.timeline = new Timeline(source, channels, widths);
    const bar = h("span", { class: "ramp", style: `--ramp:linear-gradient(to right, ${kStops.join(", ")})` });
    this.element = h(
      "div",
      { class: "stressscale", hidden: true, role: "img", "aria-label": "Scale of the von Mises stress" },
      h("span", {}, "von Mises stress"),
      h("span", { class: "ends" }, h("span", { class: "num" }, "0"), bar, this.largest),
      this.present,
    );
  }

  get any(): boolean {
    return this.surfaces.length > 0;
  }

  // Takes in that the result has so many rows.
  async grow(rows: number, first: number, last: number) {
    if (!this.on || !(await this.timeline.grow(rows, first, last))) return;
    for (const column of this.timeline.overview.columns) for (const x of column) this.most = Math.max(this.most, x);
  }

  // Colours the skins of `stage` as they are at `time`, or takes the colours away.
  show(stage: Stage, time: number, stride: number, ahead: number) {
    this.element.hidden = !this.on;
    const moment = this.on ? this.timeline.at(time, stride, ahead) : null;
    if (this.on && !moment) return;
    this.now = [Infinity, 0];
    this.surfaces.forEach(({ surface, values }, i) => {
      if (!moment) return stage.paint(surface, null, 0);
      const { rows, row, part } = moment;
      const x = rows.columns[i];
      const a = values.length * row;
      const b = row + 1 < rows.t.length ? a + values.length : a;
      for (let k = 0; k < values.length; ++k) {
        values[k] = x[a + k] + part * (x[b + k] - x[a + k]);
        this.now[0] = Math.min(this.now[0], values[k]);
        this.now[1] = Math.max(this.now[1], values[k]);
      }
    });
    if (!moment) return;
    this.most = Math.max(this.most, this.now[1]);
    for (const { surface, values } of this.surfaces) stage.paint(surface, values, this.most);
    this.largest.textContent = pressure(this.most);
    this.present.textContent = `now ${pressure(this.now[0])} to ${pressure(this.now[1])}`;
  }
}
