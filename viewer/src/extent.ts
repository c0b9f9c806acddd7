// How far a motion reaches, which way is up in it, and how long its force arrows are.
import * as THREE from "three";
import { rotationColumns } from "./instances";
import type { Motion } from "./motion";
import { reach } from "./parts";
import type { Skin } from "./surfaces";
import type { Scene } from "./types";

const kMeasuredRows = 80;

export interface Extent {
  low: THREE.Vector3; // corners of the box that holds the whole motion
  high: THREE.Vector3;
  center: THREE.Vector3;
  size: number;
  lowest: number; // height of its lowest corner
}

export interface CarriedSkin {
  skin: Skin;
  body: number;
}

export function measure(scene: Scene, motion: Motion, skins: CarriedSkin[], up: THREE.Vector3): Extent {
  const { frame, timeline } = motion;
  const { overview } = timeline;
  const low = new THREE.Vector3().setScalar(Infinity);
  const high = new THREE.Vector3().setScalar(-Infinity);
  const include = (x: number, y: number, z: number, r: number) => {
    low.set(Math.min(low.x, x - r), Math.min(low.y, y - r), Math.min(low.z, z - r));
    high.set(Math.max(high.x, x + r), Math.max(high.y, y + r), Math.max(high.z, z + r));
  };
  const every = Math.max(1, Math.floor(overview.t.length / kMeasuredRows));
  const R = new Float64Array(9);
  scene.bodies.forEach((body, b) => {
    const column = frame.position[b];
    if (column < 0) return;
    const x = overview.columns[column];
    const q = frame.orientation[b] >= 0 ? overview.columns[frame.orientation[b]] : null;
    const marks = [...body.shapes.map((s) => ({ at: s.position, r: reach(s) })), ...[body.center, ...body.anchors].map((at) => ({ at, r: 0 }))];
    for (const { skin, body: carrier } of skins) if (carrier === b) marks.push(...skin.corners().map((at) => ({ at, r: 0 })));
    for (let i = 0; i < overview.t.length; i += every) {
      rotationColumns(q ? q[4 * i] : 1, q ? q[4 * i + 1] : 0, q ? q[4 * i + 2] : 0, q ? q[4 * i + 3] : 0, R, 0);
      for (const { at: a, r } of marks)
        include(
          x[3 * i] + R[0] * a[0] + R[3] * a[1] + R[6] * a[2],
          x[3 * i + 1] + R[1] * a[0] + R[4] * a[1] + R[7] * a[2],
          x[3 * i + 2] + R[2] * a[0] + R[5] * a[1] + R[8] * a[2],
          r,
        );
    }
  });
  for (const shape of scene.ground.shapes) {
    if (shape.kind === "plane" || (shape.kind === "line" && !shape.length)) continue;
    include(...shape.position, reach(shape));
  }
  for (const a of scene.ground.anchors) include(...a, 0);
  if (!(high.x >= low.x)) {
    low.setScalar(-0.5);
    high.setScalar(0.5);
  }
  const center = low.clone().add(high).multiplyScalar(0.5);
  let size = low.distanceTo(high);
  // A single thing at rest, drawn as a mark, has no size of its own.
  if (!(size > 0)) size = 1;
  const room = Math.max(0, 0.05 * size - Math.min(high.x - low.x, high.y - low.y, high.z - low.z) / 2);
  low.subScalar(room);
  high.addScalar(room);
  return { low, high, center, size, lowest: lowest(low, high, up) };
}

// Metres an arrow has a newton. The largest force that is not a rare peak sets the scale.
export function forceScale({ frame, timeline: { overview } }: Motion, size: number): number {
  const forces: number[] = [];
  for (const c of frame.contacts) {
    if (c.force < 0) continue;
    const f = overview.columns[c.force];
    for (let i = 0; i < overview.t.length; ++i) {
      const size = Math.hypot(f[3 * i], f[3 * i + 1], f[3 * i + 2]);
      if (size > 0) forces.push(size);
    }
  }
  forces.sort((a, b) => a - b);
  return forces.length ? (0.2 * size) / forces[Math.floor(0.97 * (forces.length - 1))] : 0;
}

// Against gravity; without it the plane's y or the z axis.
export function upOf(scene: Scene): THREE.Vector3 {
  const g = new THREE.Vector3(...scene.gravity);
  if (scene.planar || !(g.lengthSq() > 0)) return scene.planar ? new THREE.Vector3(0, 1, 0) : new THREE.Vector3(0, 0, 1);
  const axes = [new THREE.Vector3(1, 0, 0), new THREE.Vector3(0, 1, 0), new THREE.Vector3(0, 0, 1)];
  g.normalize().negate();
  // An inclined plane is often written as inclined gravity: the nearest axis is then the upright one.
  return axes.flatMap((a) => [a, a.clone().negate()]).reduce((best, a) => (a.dot(g) > best.dot(g) + 1e-9 ? a : best));
}

function lowest(low: THREE.Vector3, high: THREE.Vector3, up: THREE.Vector3): number {
  let least = Infinity;
  for (const x of [low.x, high.x])
    for (const y of [low.y, high.y])
      for (const z of [low.z, high.z]) least = Math.min(least, up.x * x + up.y * y + up.z * z);
  return least;
}
