// The energy ledger as stacked areas. At every moment
//   stored + sum of what was taken = stored at the start + sum of what was supplied + remainder,
// each contribution's work counting as taken where it is negative and as supplied where it is positive. The areas are
// the left side, the line on top the right side; that they meet is the ledger closing. Stored energy is split into
// kinetic and potential, the latter counted from its least value.
import uPlot from "uplot";
import { baseOptions, drawEvents, Moment, timeAxis, type TimeRange, valueAxis } from "./chart";
import { format, h } from "./dom";
import { css, seriesColors } from "./looks";
import type { Player } from "./player";
import type { Quantities } from "./quantities";
import type { Source } from "./source";
import { rowAt } from "./timeline";
import type { Channel, Rows, Series } from "./types";

const kMostRows = 4000;

interface Layer {
  name: string;
  values: Float64Array;
}

export class Energy {
  readonly element: HTMLElement;
  private host = h("div", { class: "chart tall", role: "img", "aria-label": "Energy ledger over time, stacked" });
  private legend = h("table", { class: "ledger" });
  private chart: uPlot | null = null;
  private moment: Moment;
  private t = new Float64Array();
  private layers: Layer[] = [];
  private total = new Float64Array();
  private remainder = new Float64Array();
  private cells: HTMLElement[] = [];
  private fresh = false;

  constructor(
    private player: Player,
    private range: TimeRange,
    private source: Source,
    private quantities: Quantities,
    private channels: Channel[],
  ) {
    this.moment = new Moment(player, (time) => {
      if (!this.chart || time < range.from || time > range.to) return null;
      return this.chart.valToPos(time, "x");
    });
    this.element = h("div", { class: "energy" }, this.host, h("div", { class: "beside" }, this.legend));
    new ResizeObserver(() => this.resize()).observe(this.host);
    player.listen(() => this.showValues());
    range.listen(() => this.chart?.setData(this.chart.data)); // which takes the range anew
  }

  async load(rows: number) {
    if (rows === 0 || !this.channels.length) return;
    const stride = Math.max(1, Math.ceil(rows / kMostRows));
    const ledger = await this.source.rows("ledger", this.channels.map((_, i) => i), 0, kMostRows + 1, stride);
    const kinetic = this.quantities.find("energy.kinetic");
    const motion = kinetic ? await this.source.series("samples", kinetic.channel, 0, -Infinity, Infinity, 2 * kMostRows) : null;
    this.stack(ledger, motion);
    this.fresh = true;
    if (this.host.clientWidth) this.draw();
  }

  private stack(ledger: Rows, kinetic: Series | null) {
    const n = ledger.t.length;
    const stored = ledger.columns[this.channels.findIndex((c) => c.name === "stored")];
    const remainder = ledger.columns[this.channels.findIndex((c) => c.name === "remainder")];
    this.t = ledger.t;
    this.layers = [];
    this.total = new Float64Array(n);
    this.remainder = remainder ?? new Float64Array(n);
    if (!stored || !n) return;
    const moving = new Float64Array(n);
    if (kinetic) {
      let j = 0;
      for (let i = 0; i < n; ++i) {
        while (j + 1 < kinetic.t.length && kinetic.t[j + 1] <= this.t[i]) ++j;
        moving[i] = kinetic.x[j];
        const gap = (kinetic.t[j + 1] ?? kinetic.t[j]) - kinetic.t[j];
        if (gap > 0 && this.t[i] > kinetic.t[j]) moving[i] += ((this.t[i] - kinetic.t[j]) / gap) * (kinetic.x[j + 1] - kinetic.x[j]);
      }
    }
    let least = Infinity;
    for (let i = 0; i < n; ++i) least = Math.min(least, stored[i] - moving[i]);
    const potential = new Float64Array(n);
    for (let i = 0; i < n; ++i) potential[i] = stored[i] - moving[i] - least;
    if (kinetic) this.layers.push({ name: "kinetic", values: moving });
    this.layers.push({ name: "potential (above its least)", values: potential });
    for (let i = 0; i < n; ++i) this.total[i] = stored[0] - least;
    this.channels.forEach((c, k) => {
      if (!c.name.startsWith("work/")) return;
      const work = ledger.columns[k];
      const taken = new Float64Array(n);
      let any = false;
      for (let i = 0; i < n; ++i) {
        if (work[i] < 0) {
          taken[i] = -work[i];
          any = true;
        } else this.total[i] += work[i];
      }
      if (any) this.layers.push({ name: `taken by ${c.name.slice("work/".length).replaceAll("/", ".")}`, values: taken });
    });
  }

  draw() {
    this.chart?.destroy();
    this.chart = null;
    this.fresh = false;
    this.host.replaceChildren();
    if (!this.layers.length) {
      this.host.append(h("p", { class: "empty" }, "No ledger is recorded yet."));
      return;
    }
    const colors = seriesColors();
    const n = this.t.length;
    const sums: Float64Array[] = [];
    let below = new Float64Array(n);
    for (const { values } of this.layers) {
      const sum = new Float64Array(n);
      for (let i = 0; i < n; ++i) sum[i] = below[i] + values[i];
      sums.push(sum);
      below = sum;
    }
    const options = baseOptions(this.player, this.range, this.host.clientWidth || 600, this.host.clientHeight || 240);
    options.axes = [timeAxis(), valueAxis("J", "J", false, true)];
    options.scales!.J = { range: (_u, low, high) => [Math.min(0, low ?? 0), (high ?? 1) * 1.05 || 1] };
    // Drawn from the top of the stack down, each area over the one behind it.
    const order = sums.map((_, i) => i).reverse();
    options.series = [
      {},
      ...order.map((i) => ({
        scale: "J",
        stroke: colors[i % colors.length],
        fill: colors[i % colors.length] + "b0",
        width: 1,
        points: { show: false },
      })),
      { scale: "J", stroke: css("ink"), width: 1.6, dash: [6, 4], points: { show: false } },
    ];
    options.bands = order.slice(0, -1).map((_, at) => ({ series: [at + 1, at + 2] as [number, number], fill: colors[order[at] % colors.length] + "b0" }));
    options.hooks!.draw = [(u) => drawEvents(u, this.range)];
    this.chart = new uPlot(options, [this.t, ...order.map((i) => sums[i]), this.total] as unknown as uPlot.AlignedData, this.host);
    this.chart.over.append(this.moment.line);

    this.cells = [];
    const row = (name: string, color: string | null) => {
      const cell = h("td");
      this.cells.push(cell);
      return h(
        "tr",
        {},
        h("th", { scope: "row" }, color ? h("span", { class: "swatch", style: `background:${color}` }) : h("span", { class: "swatch dashed" }), name),
        cell,
      );
    };
    this.legend.replaceChildren(
      h("caption", {}, "Energy at the cursor, J"),
      ...this.layers.map((l, i) => row(l.name, colors[i % colors.length])),
      row("at the start + supplied", null),
      row("remainder of the integration", null),
    );
    this.legend.lastElementChild!.querySelector(".swatch")!.classList.remove("dashed");
    this.showValues();
  }

  private showValues() {
    this.moment.show();
    if (!this.chart || !this.cells.length) return;
    const i = rowAt(this.t, this.player.time);
    const values = [...this.layers.map((l) => l.values[i]), this.total[i], this.remainder[i]];
    values.forEach((v, k) => (this.cells[k].textContent = format(v)));
  }

  private resize() {
    if (!this.host.clientWidth) return;
    if (!this.chart || this.fresh) this.draw();
    else this.chart.setSize({ width: this.host.clientWidth, height: this.host.clientHeight });
    this.moment.show();
  }
}
