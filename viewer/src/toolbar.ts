// What stands over the picture: the buttons of the view, and the key to its colours.
import { button, format, h, icon } from "./dom";
import { stateColors } from "./looks";
import type { ShapeView } from "./shapes";
import type { Stage } from "./stage";
import type { StressView } from "./stress";
import type { Scene } from "./types";
import type { ViewName } from "./viewpoint";

// What the buttons act on.
export interface Tooled {
  readonly scene: Scene;
  readonly stage: Stage | null;
  readonly stress: StressView;
  readonly shapes: ShapeView;
  readonly followBox: HTMLSelectElement;
  readonly mostLabels: number;
  showLabels: boolean;
  look(view?: ViewName): void; // without one: as before, everything
  showMoment(): void;
  showStress(on: boolean): void;
}

export function buildToolbar(page: Tooled): HTMLElement {
  const views: [ViewName, string][] = [
    ["corner", "3D"],
    ["front", "Front"],
    ["side", "Side"],
    ["top", "Top"],
  ];
  const toggle = (label: string, text: string, get: () => boolean, set: (on: boolean) => void) => {
    const b = button(label, text, () => {
      set(!get());
      b.setAttribute("aria-pressed", String(get()));
      page.showMoment();
    });
    b.className = "toggle";
    b.setAttribute("aria-pressed", String(get()));
    return b;
  };
  const show = (name: "contacts" | "trails" | "ground", label: string, text: string) =>
    toggle(label, text, () => page.stage?.show[name] ?? true, (on) => page.stage && (page.stage.show[name] = on));
  const factor = h("input", { type: "range", min: 0, max: 3, step: 0.05, value: 0, "aria-label": "Exaggerate deformation" });
  const factorText = h("output", {}, "× 1");
  factor.addEventListener("input", () => {
    const value = 10 ** Number(factor.value);
    factorText.textContent = `× ${format(value, 2)}`;
    page.stage?.exaggerate(value);
    page.showMoment();
  });
  const bar = h(
    "div",
    { class: "toolbar", role: "toolbar", "aria-label": "View" },
    h("span", { class: "group" }, ...views.map(([view, text], i) => button(`View: ${text} (${(i + 1) % 5})`, text, () => page.look(view)))),
    h("span", { class: "group" }, button("Show everything (0)", icon("home"), () => page.look())),
    h(
      "span",
      { class: "group" },
      toggle("Parallel projection (O)", "Parallel", () => page.stage?.isParallel ?? page.scene.planar, (on) => page.stage?.setParallel(on)),
      page.scene.contacts.length ? show("contacts", "Contact points and forces (C)", "Contacts") : null,
      show("trails", "Trails (T)", "Trails"),
      show("ground", "Ground (G)", "Ground"),
      page.scene.bodies.length <= page.mostLabels
        ? toggle("Names (N)", "Names", () => page.showLabels, (on) => (page.showLabels = on))
        : null,
      page.stress.any ? toggle("Stress (M)", "Stress", () => page.stress.on, (on) => page.showStress(on)) : null,
    ),
    h("span", { class: "group" }, page.followBox),
    h("span", { class: "group", id: "exaggerate", hidden: true }, h("label", {}, "Deformation ", factor), factorText),
    page.shapes.element,
  );
  return bar;
}

// The colours of contacts, the size of a cell of the grid, the scale of stresses.
export function buildCorner(contacts: boolean, ...notes: (HTMLElement | null)[]): HTMLElement {
  const colors = stateColors();
  const key = h("ul", { class: "legend inview" });
  if (contacts)
    for (const [name, text] of [["stick", "sticking"], ["slide", "sliding"], ["open", "open"]] as const)
      key.append(h("li", {}, h("span", { class: `state ${name}`, style: `--c:${colors[name]}` }), text));
  return h("div", { class: "corner" }, key.childElementCount ? key : null, ...notes);
}
