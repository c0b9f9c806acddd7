// Colours and sizes that the picture and the plots share; the page's style sheet holds the rest.
import * as THREE from "three";

export const kSeriesLight = ["#1f6fc5", "#d1500a", "#238636", "#a8329a", "#8a6d00", "#0b8a8a", "#c2273d", "#5b4fc9"];
export const kSeriesDark = ["#62adff", "#ff9156", "#5fcf72", "#e784d6", "#dcb944", "#46cccc", "#ff7a8a", "#a79dff"];

// Contact states: told apart by more than colour (bar height, and words) wherever they are drawn.
export const kStates = {
  light: { open: "#9aa4b0", slide: "#d9730d", stick: "#1668c7" },
  dark: { open: "#6b7683", slide: "#ffa24d", stick: "#5fa8ff" },
};

const kBodies = ["#7f9cc0", "#c79a63", "#7fae8b", "#b38bb5", "#b9a95c", "#6fa9ac", "#c08080", "#8d8fc4"];

export function bodyColor(index: number): THREE.Color {
  return new THREE.Color(kBodies[index % kBodies.length]);
}
export function paintColor(paint: "ground" | "steel", dark: boolean): THREE.Color {
  if (paint === "ground") return new THREE.Color(dark ? "#566170" : "#b9c1ca");
  return new THREE.Color(dark ? "#c9d1da" : "#4b5561");
}

export function isDark(): boolean {
  return document.documentElement.dataset.theme === "dark";
}
export function seriesColors(): string[] {
  return isDark() ? kSeriesDark : kSeriesLight;
}
export function stateColors() {
  return isDark() ? kStates.dark : kStates.light;
}
// The style sheet's colour of this name.
export function css(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// 1, 2 or 5 times a power of ten, not above x.
export function niceBelow(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x));
  const lead = x / power;
  return (lead >= 5 ? 5 : lead >= 2 ? 2 : 1) * power;
}

export function setTheme(theme: string | null) {
  const dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}
