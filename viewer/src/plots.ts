// Plots of any recorded quantity by name: several in one frame, an axis for each unit.
import uPlot from "uplot";
import { baseOptions, drawEvents, Moment, timeAxis, type TimeRange, valueAxis } from "./chart";
import { button, format, h, icon, unitText } from "./dom";
import { seriesColors } from "./looks";
import type { Player } from "./player";
import type { Quantities, Quantity } from "./quantities";
import type { Source } from "./source";
import { rowAt } from "./timeline";
import type { Series } from "./types";

const kPoints = 4000;

class Plot {
  readonly element: HTMLElement;
  quantities: Quantity[] = [];
  private series: Series[] = [];
  private chart: uPlot | null = null;
  private host = h("div", { class: "chart", role: "img" });
  private chips = h("ul", { class: "chips", "aria-label": "Quantities in this plot" });
  private values: HTMLElement[] = [];
  private moment: Moment;
  private asked = 0;

  constructor(
    private deck: Plots,
    private player: Player,
    private range: TimeRange,
    private source: Source,
  ) {
    this.moment = new Moment(player, (time) => {
      if (!this.chart || time < range.from || time > range.to) return null;
      return this.chart.valToPos(time, "x");
    });
    const search = this.deck.searchBox((q) => this.add(q));
    this.element = h(
      "section",
      { class: "plot", "aria-label": "Plot" },
      h("header", {}, this.chips, search, button("Remove this plot", icon("close"), () => deck.remove(this), { class: "quiet" })),
      this.host,
    );
    this.element.addEventListener("focusin", () => deck.activate(this));
    this.element.addEventListener("pointerdown", () => deck.activate(this));
    new ResizeObserver(() => this.resize()).observe(this.host);
    player.listen(() => this.showValues());
    range.listen(() => void this.load());
  }

  add(q: Quantity) {
    if (this.quantities.includes(q)) return;
    this.quantities.push(q);
    this.changed();
  }
  drop(q: Quantity) {
    this.quantities = this.quantities.filter((other) => other !== q);
    this.changed();
  }
  changed() {
    this.showChips();
    this.deck.onchange();
    void this.load();
  }

  showChips() {
    const colors = seriesColors();
    this.values = [];
    this.chips.replaceChildren(
      ...this.quantities.map((q, i) => {
        const value = h("span", { class: "value" });
        this.values.push(value);
        return h(
          "li",
          { title: q.description },
          h("span", { class: "swatch", style: `background:${colors[i % colors.length]}` }),
          h("span", { class: "name" }, q.name),
          value,
          h("span", { class: "unit" }, unitText(q.unit)),
          button(`Remove ${q.name}`, icon("close"), () => this.drop(q), { class: "tiny" }),
        );
      }),
    );
    this.host.setAttribute("aria-label", `Plot of ${this.quantities.map((q) => q.name).join(", ") || "nothing yet"} over time`);
  }

  private showValues() {
    this.moment.show();
    const { time } = this.player;
    this.series.forEach((s, i) => {
      const text = format(valueAt(s, time), 5);
      if (this.values[i] && this.values[i].textContent !== text) this.values[i].textContent = text;
    });
  }

  async load() {
    const ask = ++this.asked;
    const { range } = this;
    const margin = range.whole ? 0 : 0.1 * (range.to - range.from);
    try {
      const series = await Promise.all(
        this.quantities.map((q) =>
          this.source.series("samples", q.channel, q.component, range.whole ? -Infinity : range.from - margin, range.whole ? Infinity : range.to + margin, kPoints),
        ),
      );
      if (ask !== this.asked) return;
      this.series = series;
      this.draw();
    } catch (error) {
      this.deck.onerror(error);
    }
  }

  draw() {
    this.chart?.destroy();
    this.chart = null;
    if (!this.quantities.length) {
      this.host.replaceChildren(h("p", { class: "empty" }, "Add a quantity: type its name above, or choose it in the list of quantities."));
      return;
    }
    this.host.replaceChildren();
    const colors = seriesColors();
    const units = [...new Set(this.quantities.map((q) => q.unit))];
    const options = baseOptions(this.player, this.range, this.host.clientWidth || 600, this.host.clientHeight || 180);
    options.axes = [timeAxis(), ...units.map((unit, i) => valueAxis(unit, unitText(unit) || "–", i > 0, i === 0))];
    options.series = [
      {},
      ...this.quantities.map((q, i) => ({
        label: q.name,
        scale: q.unit,
        stroke: colors[i % colors.length],
        width: 1.6,
        spanGaps: true,
        points: { show: false },
      })),
    ];
    for (const unit of units) options.scales![unit] = { auto: true, range: padded };
    options.hooks!.drawClear = [(u) => drawEvents(u, this.range)];
    this.chart = new uPlot(options, joined(this.series), this.host);
    this.chart.over.append(this.moment.line);
    this.showValues();
  }

  refresh() {
    this.chart?.redraw(false);
  }
  private resize() {
    if (this.chart && this.host.clientWidth) {
      this.chart.setSize({ width: this.host.clientWidth, height: this.host.clientHeight });
      this.moment.show();
    }
  }
  dispose() {
    this.chart?.destroy();
    this.chart = null;
  }
}

// A constant is shown in the middle of a range about it, rounding noise as the constant it is.
function padded(_: uPlot, low: number, high: number): [number, number] {
  if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  const span = high - low;
  if (span <= 1e-12 * size || span === 0) {
    const pad = size > 0 ? 0.1 * size : 1;
    return [low - pad, high + pad];
  }
  return [low - 0.06 * span, high + 0.06 * span];
}

function valueAt({ t, x }: Series, time: number): number | undefined {
  if (!t.length) return undefined;
  const i = rowAt(t, time);
  if (i + 1 >= t.length || !(t[i + 1] > t[i])) return x[i];
  const part = (time - t[i]) / (t[i + 1] - t[i]);
  return x[i] + Math.max(0, Math.min(1, part)) * (x[i + 1] - x[i]);
}

// One time axis for series that were thinned each in its own way.
function joined(series: Series[]): uPlot.AlignedData {
  if (series.length === 1) return [series[0].t, series[0].x] as unknown as uPlot.AlignedData;
  const same = series.every((s) => s.t.length === series[0].t.length && s.t.every((t, i) => t === series[0].t[i]));
  if (same) return [series[0].t, ...series.map((s) => s.x)] as unknown as uPlot.AlignedData;
  return uPlot.join(series.map((s) => [strictlyRising(s.t), Array.from(s.x)] as unknown as uPlot.AlignedData));
}
// join() keeps one value a time; samples before and after a jump share theirs.
function strictlyRising(t: Float64Array): number[] {
  const out = Array.from(t);
  for (let i = 1; i < out.length; ++i) if (out[i] <= out[i - 1]) out[i] = out[i - 1] + Math.max(Number.MIN_VALUE, Math.abs(out[i - 1]) * 2.3e-16);
  return out;
}

export class Plots {
  readonly element: HTMLElement;
  readonly plots: Plot[] = [];
  active: Plot | null = null;
  onchange = () => {};
  onerror = (_: unknown) => {};
  private list = h("div", { class: "plots" });

  constructor(
    private player: Player,
    private range: TimeRange,
    private source: Source,
    private quantities: Quantities,
  ) {
    this.element = h(
      "div",
      { class: "deck" },
      this.list,
      h("button", { type: "button", class: "more", onclick: () => this.activate(this.addPlot()) }, icon("plus"), " Add a plot"),
    );
  }

  addPlot(names: string[] = []): Plot {
    const plot = new Plot(this, this.player, this.range, this.source);
    this.plots.push(plot);
    this.list.append(plot.element);
    for (const name of names) {
      const q = this.quantities.find(name);
      if (q) plot.quantities.push(q);
    }
    plot.changed();
    if (!this.active) this.activate(plot);
    return plot;
  }
  remove(plot: Plot) {
    plot.dispose();
    plot.element.remove();
    this.plots.splice(this.plots.indexOf(plot), 1);
    if (this.active === plot) this.active = this.plots[0] ?? null;
    this.onchange();
  }
  activate(plot: Plot) {
    this.active = plot;
    for (const p of this.plots) p.element.classList.toggle("active", p === plot);
  }
  // Into the active plot.
  add(q: Quantity) {
    (this.active ?? this.addPlot()).add(q);
  }
  names(): string[][] {
    return this.plots.map((p) => p.quantities.map((q) => q.name));
  }
  redraw() {
    for (const plot of this.plots) {
      plot.showChips();
      plot.draw();
    }
  }
  // The same numbers, other marks.
  refresh() {
    for (const plot of this.plots) plot.refresh();
  }

  // An input that finds quantities by parts of their names: arrows move, Enter takes.
  searchBox(take: (q: Quantity) => void): HTMLElement {
    const id = `find-${Math.random().toString(36).slice(2)}`;
    const list = h("ul", { id, role: "listbox", class: "hits", hidden: true });
    let hits: Quantity[] = [];
    let at = 0;
    const input = h("input", {
      type: "text",
      placeholder: "Add a quantity…",
      role: "combobox",
      "aria-expanded": "false",
      "aria-controls": id,
      "aria-autocomplete": "list",
      "aria-label": "Add a quantity by name",
      autocomplete: "off",
      spellcheck: "false",
    });
    const show = () => {
      hits = this.quantities.search(input.value);
      at = Math.min(at, Math.max(0, hits.length - 1));
      list.replaceChildren(
        ...hits.map((q, i) =>
          h(
            "li",
            {
              role: "option",
              id: `${id}-${i}`,
              "aria-selected": String(i === at),
              title: q.description,
              onpointerdown: (e: Event) => {
                e.preventDefault();
                choose(i);
              },
            },
            h("span", {}, q.name),
            h("span", { class: "unit" }, unitText(q.unit)),
          ),
        ),
      );
      if (!hits.length) list.append(h("li", { class: "none" }, "nothing recorded by this name"));
      list.hidden = false;
      input.setAttribute("aria-expanded", "true");
      input.setAttribute("aria-activedescendant", hits.length ? `${id}-${at}` : "");
      list.children[at]?.scrollIntoView?.({ block: "nearest" });
    };
    const hide = () => {
      list.hidden = true;
      input.setAttribute("aria-expanded", "false");
    };
    const choose = (i: number) => {
      if (!hits[i]) return;
      take(hits[i]);
      input.value = "";
      at = 0;
      hide();
    };
    input.addEventListener("focus", show);
    input.addEventListener("input", () => {
      at = 0;
      show();
    });
    input.addEventListener("blur", hide);
    input.addEventListener("keydown", (e) => {
      if (e.key === "ArrowDown" || e.key === "ArrowUp") {
        at = Math.max(0, Math.min(hits.length - 1, at + (e.key === "ArrowDown" ? 1 : -1)));
        show();
        e.preventDefault();
      } else if (e.key === "Enter") choose(at);
      else if (e.key === "Escape") {
        hide();
        input.blur();
      }
      e.stopPropagation();
    });
    return h("div", { class: "finder" }, input, list);
  }
}
