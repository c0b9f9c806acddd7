// What plots, energy and contacts have in common: one range of time, a line at the shown moment, marks of events.
import uPlot from "uplot";
import type { Player } from "./player";
import { css } from "./looks";
import type { EventRow } from "./types";

export const kGutter = 62; // pixels of an axis
export const kEdge = 14;

// The range of time all charts show; null: everything.
export class TimeRange {
  from = 0;
  to = 1;
  whole = true;
  events: EventRow[] = [];
  private listeners: (() => void)[] = [];

  listen(listener: () => void) {
    this.listeners.push(listener);
    return () => (this.listeners = this.listeners.filter((l) => l !== listener));
  }
  set(from: number, to: number) {
    if (!(to > from)) return;
    this.from = from;
    this.to = to;
    this.whole = false;
    this.tell();
  }
  reset(first: number, last: number) {
    this.from = first;
    this.to = last > first ? last : first + 1;
    this.whole = true;
    this.tell();
  }
  tell() {
    for (const listener of this.listeners) listener();
  }
}

// A vertical line over a chart at the shown moment. Moving it costs no drawing of the chart.
export class Moment {
  readonly line = document.createElement("div");
  constructor(
    private player: Player,
    private place: (time: number) => number | null, // pixels from the left of the line's parent
  ) {
    this.line.className = "moment";
    this.line.setAttribute("aria-hidden", "true");
    player.listen(() => this.show());
  }
  show() {
    const x = this.place(this.player.time);
    this.line.style.visibility = x === null ? "hidden" : "visible";
    if (x !== null) this.line.style.transform = `translateX(${x}px)`;
  }
}

export function timeAxis(): uPlot.Axis {
  return {
    stroke: () => css("muted"),
    grid: { stroke: () => css("gridline"), width: 1 },
    ticks: { stroke: () => css("gridline"), width: 1, size: 4 },
    font: "11.5px system-ui, sans-serif",
    size: 26,
    gap: 4,
    values: (_, splits) => splits.map((s) => axisNumber(s)),
  };
}

export function valueAxis(scale: string, label: string, right: boolean, first: boolean): uPlot.Axis {
  return {
    scale,
    side: right ? 1 : 3,
    label,
    labelSize: 16,
    labelGap: 0,
    labelFont: "11.5px system-ui, sans-serif",
    stroke: () => css("muted"),
    grid: { show: first, stroke: () => css("gridline"), width: 1 },
    ticks: { stroke: () => css("gridline"), width: 1, size: 4 },
    font: "11.5px system-ui, sans-serif",
    size: kGutter - 16,
    gap: 4,
    values: (_, splits) => splits.map((s) => axisNumber(s)),
  };
}

export function axisNumber(x: number): string {
  if (x === 0) return "0";
  const size = Math.abs(x);
  const text = size >= 1e5 || size < 1e-3 ? x.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e") : String(Number(x.toPrecision(6)));
  return text.replace(/-/g, "−");
}

// Lines of events, few enough to be told apart; else ticks at the top.
export function drawEvents(u: uPlot, range: TimeRange) {
  const { ctx, bbox } = u;
  const visible = range.events.filter(([t]) => t >= range.from && t <= range.to);
  if (!visible.length) return;
  const few = visible.length <= 60;
  ctx.save();
  ctx.fillStyle = css("event");
  let drawn = -10;
  for (const [t] of visible) {
    const x = u.valToPos(t, "x", true);
    if (x - drawn < 1.5) continue;
    drawn = x;
    ctx.globalAlpha = few ? 0.4 : 0.7;
    ctx.fillRect(x - 0.5, bbox.top, 1, few ? bbox.height : 7 * devicePixelRatio);
  }
  ctx.restore();
}

// Options every chart shares; click sets the moment, dragging chooses a range, a double click shows all again.
export function baseOptions(player: Player, range: TimeRange, width: number, height: number): uPlot.Options {
  return {
    width,
    height,
    padding: [8, kEdge, 0, 0],
    pxAlign: 0, // curves as smooth as the screen allows
    legend: { show: false },
    scales: { x: { time: false, range: () => [range.from, range.to] } },
    series: [{}],
    cursor: {
      y: false,
      points: { size: 7 },
      drag: { x: true, y: false, setScale: false },
      bind: {
        dblclick: () => () => {
          range.reset(player.first, player.last);
          return null;
        },
      },
    },
    hooks: {
      setSelect: [
        (u) => {
          const { left, width: wide } = u.select;
          if (wide > 5) range.set(u.posToVal(left, "x"), u.posToVal(left + wide, "x"));
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
      ready: [
        (u) => {
          let down = 0;
          u.over.addEventListener("pointerdown", (e) => (down = e.clientX));
          u.over.addEventListener("click", (e) => {
            if (Math.abs(e.clientX - down) > 4) return;
            player.followEnd = false;
            player.goto(u.posToVal(e.clientX - u.over.getBoundingClientRect().left, "x"));
          });
          u.over.addEventListener(
            "wheel",
            (e) => {
              if (!e.ctrlKey && !e.metaKey) return;
              e.preventDefault();
              const at = u.posToVal(e.clientX - u.over.getBoundingClientRect().left, "x");
              const factor = Math.exp(0.002 * e.deltaY);
              const from = Math.max(player.first, at + (range.from - at) * factor);
              const to = Math.min(player.last, at + (range.to - at) * factor);
              range.set(from, to);
            },
            { passive: false },
          );
        },
      ],
    },
  };
}
