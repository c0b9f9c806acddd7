// Natural vibrations of flexible bodies, one at a time, in place of the computed deformation.
import { format, h } from "./dom";
import type { Stage } from "./stage";
import type { Scene } from "./types";

const kBeats = 0.8; // swings a second, whatever the true frequency

export class ShapeView {
  readonly element: HTMLElement;
  private chosen: { skin: number; eta: number[] } | null = null;
  private stage: Stage | null = null;
  private still = matchMedia("(prefers-reduced-motion: reduce)").matches;

  constructor(scene: Scene) {
    const box = h("select", { "aria-label": "Shape of vibration", title: "Shape of vibration" }, h("option", { value: "" }, "as computed"));
    const all: { skin: number; eta: number[] }[] = [];
    scene.surfaces.forEach((surface, skin) => {
      if (!surface.shapes?.length) return;
      const group = h("optgroup", { label: surface.name });
      surface.shapes.forEach(({ frequency, eta }, k) => {
        group.append(h("option", { value: all.length }, `${k + 1}: ${format(frequency, 4)} Hz`));
        all.push({ skin, eta });
      });
      box.append(group);
    });
    box.addEventListener("change", () => this.choose(box.value === "" ? null : all[Number(box.value)]));
    this.element = h("span", { class: "group", hidden: all.length === 0 }, h("label", {}, "Shape ", box));
  }

  attach(stage: Stage) {
    this.stage = stage;
  }

  private choose(shape: { skin: number; eta: number[] } | null) {
    if (this.chosen) this.stage?.hold(this.chosen.skin, null, 0);
    this.chosen = shape;
    if (shape) this.swing(performance.now());
  }

  private swing(began: number) {
    const shape = this.chosen;
    if (!shape || !this.stage) return;
    const beat = this.still ? 1 : Math.sin(2 * Math.PI * kBeats * ((performance.now() - began) / 1000));
    this.stage.hold(shape.skin, shape.eta, beat);
    if (!this.still) requestAnimationFrame(() => this.chosen === shape && this.swing(began));
  }
}
