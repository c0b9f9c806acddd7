// What is drawn besides bodies: springs between them, contact points with their forces, trails.
import * as THREE from "three";
import { barInto, Instances } from "./instances";
import { css, stateColors } from "./looks";
import type { Motion } from "./motion";
import { rowAt } from "./timeline";
import type { Scene, Vec3 } from "./types";

const kSpringSegments = 24;
const kMostSprings = 400;

// World position of a place on a body.
export type WorldPoint = (body: number, x: Vec3, out: Float64Array) => void;

export class Springs {
  readonly mesh: THREE.InstancedMesh;
  private springs: Instances;
  private affine = new Float64Array(12);

  constructor(
    private scene: Scene,
    bar: THREE.BufferGeometry,
    material: THREE.Material,
  ) {
    const count = Math.min(kMostSprings, scene.forces.filter((f) => f.kind === "distance").length);
    this.springs = new Instances(bar, material, count * kSpringSegments);
    this.mesh = this.springs.mesh;
  }

  theme(dark: boolean) {
    (this.mesh.material as THREE.MeshPhongMaterial).color.set(dark ? "#aab4c0" : "#59636f");
  }

  update(ground: number, size: number, worldPoint: WorldPoint) {
    let n = 0;
    const a = new Float64Array(3);
    const b = new Float64Array(3);
    const radius = 0.0022 * size;
    let drawn = 0;
    for (const force of this.scene.forces) {
      if (force.kind !== "distance" || drawn++ >= kMostSprings) continue;
      worldPoint(force.a.body < 0 ? ground : force.a.body, force.a.position, a);
      worldPoint(force.b.body < 0 ? ground : force.b.body, force.b.position, b);
      barInto(this.affine, 0, a[0], a[1], a[2], b[0], b[1], b[2], 1, 1);
      const across = [this.affine[0], this.affine[1], this.affine[2]];
      const width = 0.016 * size;
      // A zigzag with straight ends.
      const corner = (i: number): [number, number, number] => {
        const s = i === 0 ? 0 : i === kSpringSegments ? 1 : 0.12 + (0.76 * (i - 1)) / (kSpringSegments - 2);
        const side = i <= 1 || i >= kSpringSegments - 1 ? 0 : i % 2 ? width : -width;
        return [0, 1, 2].map((k) => a[k] + s * (b[k] - a[k]) + side * across[k]) as [number, number, number];
      };
      let from = corner(0);
      for (let i = 1; i <= kSpringSegments; ++i) {
        const to = corner(i);
        barInto(this.affine, 0, ...from, ...to, radius, 1);
        this.springs.set(n++, this.affine, 0);
        from = to;
      }
    }
    if (drawn) this.springs.count(n);
  }
}

// Arrows are seen through bodies: what presses lies mostly between two of them.
export class ContactMarks {
  readonly shafts: Instances;
  readonly heads: Instances;
  readonly dots: Instances;
  private touching: boolean[];
  private affine = new Float64Array(12);

  constructor(
    scene: Scene,
    private motion: Motion,
    bar: THREE.BufferGeometry,
  ) {
    const points = motion.frame.contacts.length;
    this.touching = motion.frame.contacts.map((c) => c.contact < 0 || scene.contacts[c.contact].first !== undefined);
    const plain = () => new THREE.MeshLambertMaterial({ depthTest: false, transparent: true });
    this.shafts = new Instances(bar, plain(), points);
    this.heads = new Instances(new THREE.ConeGeometry(1, 1, 20).rotateX(Math.PI / 2), plain(), points);
    this.dots = new Instances(new THREE.SphereGeometry(1, 12, 8), plain(), points);
    for (const i of [this.shafts, this.heads, this.dots]) i.mesh.renderOrder = 10;
  }

  get meshes(): THREE.Object3D[] {
    return [this.shafts.mesh, this.heads.mesh, this.dots.mesh];
  }

  // `scale`: metres an arrow has a newton.
  update(shown: boolean, size: number, scale: number) {
    const { points } = this.motion;
    const count = this.motion.frame.contacts.length;
    if (!count) return;
    const colors = stateColors();
    const open = new THREE.Color(colors.open);
    const slide = new THREE.Color(colors.slide);
    const stick = new THREE.Color(colors.stick);
    let dots = 0;
    let arrows = 0;
    const r = 0.008 * size;
    const a = this.affine;
    if (shown)
      for (let c = 0; c < count; ++c) {
        if (!this.touching[c]) continue;
        const at = 7 * c;
        const state = points[at + 6];
        const color = state === 0 ? open : state === 2 ? stick : slide;
        const s = state === 0 ? 0.6 * r : r;
        a.fill(0);
        a[0] = a[4] = a[8] = s;
        a[9] = points[at];
        a[10] = points[at + 1];
        a[11] = points[at + 2];
        this.dots.set(dots, a, 0);
        this.dots.mesh.setColorAt(dots++, color);
        const fx = points[at + 3] * scale;
        const fy = points[at + 4] * scale;
        const fz = points[at + 5] * scale;
        let length = Math.sqrt(fx * fx + fy * fy + fz * fz);
        if (!(length > 0.002 * size)) continue;
        // Peaks beyond the picture keep their direction.
        const cut = Math.min(1, (0.5 * size) / length);
        length *= cut;
        const head = Math.min(0.035 * size, 0.5 * length);
        const shaft = (length - head) / length;
        const [x, y, z] = [points[at], points[at + 1], points[at + 2]];
        const tip = [x + cut * fx, y + cut * fy, z + cut * fz];
        const neck = [x + shaft * cut * fx, y + shaft * cut * fy, z + shaft * cut * fz];
        barInto(a, 0, x, y, z, neck[0], neck[1], neck[2], 0.0042 * size, 1);
        this.shafts.set(arrows, a, 0);
        this.shafts.mesh.setColorAt(arrows, color);
        barInto(a, 0, neck[0], neck[1], neck[2], tip[0], tip[1], tip[2], 0.012 * size, 1);
        this.heads.set(arrows, a, 0);
        this.heads.mesh.setColorAt(arrows++, color);
      }
    this.dots.count(dots);
    this.shafts.count(arrows);
    this.heads.count(arrows);
    for (const i of [this.dots, this.shafts, this.heads]) i.mesh.instanceColor!.needsUpdate = true;
  }
}

// Paths of mass centres.
export class Trails {
  private trails: { body: number; line: THREE.Line; faint: THREE.Line; t: Float64Array }[] = [];

  constructor(private world: THREE.Scene) {}

  theme() {
    const color = new THREE.Color(css("trail"));
    for (const { line, faint } of this.trails) {
      (line.material as THREE.LineBasicMaterial).color.copy(color);
      (faint.material as THREE.LineBasicMaterial).color.copy(color);
    }
  }

  // x: 3 a time.
  set(body: number, t: Float64Array, x: Float32Array) {
    this.clear(body);
    const geometry = new THREE.BufferGeometry().setAttribute("position", new THREE.BufferAttribute(x, 3));
    const color = new THREE.Color(css("trail"));
    const line = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color }));
    const all = geometry.clone();
    const faint = new THREE.Line(all, new THREE.LineBasicMaterial({ color, transparent: true, opacity: 0.22 }));
    line.frustumCulled = faint.frustumCulled = false;
    this.world.add(line, faint);
    this.trails.push({ body, line, faint, t });
  }
  clear(body: number) {
    this.trails = this.trails.filter((trail) => {
      if (trail.body !== body) return true;
      this.world.remove(trail.line, trail.faint);
      trail.line.geometry.dispose();
      trail.faint.geometry.dispose();
      return false;
    });
  }

  update(time: number, shown: boolean) {
    for (const { line, faint, t } of this.trails) {
      line.visible = faint.visible = shown;
      line.geometry.setDrawRange(0, rowAt(t, time) + 1);
    }
  }
}
