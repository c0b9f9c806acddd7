// Small helpers to build the page. Text from a model is always set as text, never as markup.

type Child = Node | string | null | undefined | false;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, unknown> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on") && typeof value === "function")
      element.addEventListener(name.slice(2), value as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else element.setAttribute(name, String(value));
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

// A number for reading: significant digits, no needless zeros, a real minus sign.
export function format(x: number | undefined | null, digits = 5): string {
  if (x === undefined || x === null || !Number.isFinite(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  let text: string;
  if (size >= 1e6 || size < 1e-4) {
    const [m, e] = x.toExponential(digits - 1).split("e");
    text = `${trim(m)}e${Number(e)}`;
  } else text = trim(x.toPrecision(digits));
  return text.replace(/-/g, "−");
}
function trim(text: string): string {
  return text.includes(".") && !text.includes("e") ? text.replace(/\.?0+$/, "") : text;
}

// A time with the digits that tell neighbouring samples apart.
export function formatTime(t: number, step: number): string {
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(Math.max(step, 1e-9)))));
  return t.toFixed(digits).replace("-", "−");
}

// "m/s^2" with the signs of print: m/s²; nothing for pure numbers.
export function unitText(unit: string): string {
  if (unit === "1") return "";
  const digits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  return unit.replaceAll("*", "·").replace(/\^(-?\d+)/g, (_, n: string) => [...n].map((c) => (c === "-" ? "⁻" : digits[Number(c)])).join(""));
}

const kIcons: Record<string, string> = {
  play: "M7 4.5v15l13-7.5z",
  pause: "M6 4.5h4.2v15H6zM13.8 4.5H18v15h-4.2z",
  first: "M5 4.5h2.4v15H5zM20 4.5v15l-11-7.5z",
  last: "M16.6 4.5H19v15h-2.4zM4 4.5v15l11-7.5z",
  back: "M15.5 4.5v15L5 12z",
  next: "M8.5 4.5v15L19 12z",
  loop: "M7 6h9V3l5 4.5-5 4.5V9H7.5A2.5 2.5 0 0 0 5 11.5V14H2v-3a5 5 0 0 1 5-5zm10 12H8v3l-5-4.5L8 12v3h8.500A2.500 2.500 0 0 0 19 12.500V10h3v3a5 5 0 0 1-5 5z",
  plus: "M11 4h2v7h7v2h-7v7h-2v-7H4v-2h7z",
  close: "M6 4.6 12 10.600 18 4.600 19.400 6 13.400 12 19.400 18 18 19.400 12 13.400 6 19.400 4.600 18 10.600 12 4.600 6z",
  home: "M12 3 2.500 11.500h3V20h5v-5.500h3V20h5v-8.500h3z",
  theme: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18",
};
export function icon(name: string): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", kIcons[name]);
  svg.append(path);
  return svg;
}

export function button(label: string, content: Node | string, action: () => void, extra: Record<string, unknown> = {}) {
  return h("button", { type: "button", "aria-label": label, title: label, onclick: action, ...extra }, content);
}
