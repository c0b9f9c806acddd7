// What is plotted first, and again: the plots and the time are part of the page's address.
import { format } from "./dom";
import type { Quantities } from "./quantities";
import type { Meta, Scene } from "./types";

// What the model's author checks, or where bodies are, or energies.
export function suggestions(meta: Meta, scene: Scene, quantities: Quantities): string[][] {
  const names: string[] = [];
  const text = meta.files.map((f) => f.text).join("\n");
  for (const m of text.matchAll(/quantity:\s*["']?([\w.[\]-]+)/g)) {
    if (!names.includes(m[1]) && quantities.find(m[1]) && !m[1].startsWith("energy.")) names.push(m[1]);
  }
  const unit = names.length ? quantities.find(names[0])!.unit : "";
  const first = names.filter((n) => quantities.find(n)!.unit === unit).slice(0, 3);
  const second = names.filter((n) => quantities.find(n)!.unit !== unit).slice(0, 1);
  if (first.length) return [[...first, ...second]];
  const body = scene.bodies[0]?.name;
  const place = ["x", "y", "z"].map((k) => `${body}.position.${k}`).filter((n) => quantities.find(n));
  if (place.length) return [place];
  return [["energy.kinetic", "energy.potential", "energy.total"].filter((n) => quantities.find(n))];
}

export function remember(shown: string[][], time: number) {
  const plots = shown.map((names) => names.map(encodeURIComponent).join("+")).join(",");
  const state = `q=${plots}&t=${format(time, 9).replace("−", "-")}`;
  try {
    history.replaceState(null, "", `#${state}`);
  } catch {
    // a page without an address of its own
  }
}

// Plots and the time.
export function restore(): [string[][], number | null] {
  const state = new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B"));
  const plots = (state.get("q") ?? "")
    .split(",")
    .filter(Boolean)
    .map((plot) => plot.split("+").map(decodeURIComponent));
  const t = state.get("t");
  return [plots, t === null || !Number.isFinite(Number(t)) ? null : Number(t)];
}
