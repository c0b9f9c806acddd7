// Many copies of one solid in one draw call. A fixed copy belongs to a body and keeps its place on it:
//   M = [R_body L | R_body l + p_body],   L, l: shape axes and size, and place, in the body's axes.
import * as THREE from "three";
import type { Quat, Vec3 } from "./types";

export interface Copy {
  body: number; // -1: ground
  local: Float64Array; // L by columns, then l: 12 numbers
  color: THREE.Color;
  paint?: "ground" | "steel"; // colours that go with dark and light; else the body's own
}

// Columns of the rotation matrix of a unit quaternion, into out[at .. at+8].
export function rotationColumns(w: number, x: number, y: number, z: number, out: Float64Array, at: number) {
  out[at] = 1 - 2 * (y * y + z * z);
  out[at + 1] = 2 * (x * y + w * z);
  out[at + 2] = 2 * (x * z - w * y);
  out[at + 3] = 2 * (x * y - w * z);
  out[at + 4] = 1 - 2 * (x * x + z * z);
  out[at + 5] = 2 * (y * z + w * x);
  out[at + 6] = 2 * (x * z + w * y);
  out[at + 7] = 2 * (y * z - w * x);
  out[at + 8] = 1 - 2 * (x * x + y * y);
}

export function placed(position: Vec3, rotation: Quat, scale: Vec3): Float64Array {
  const local = new Float64Array(12);
  rotationColumns(...rotation, local, 0);
  for (let column = 0; column < 3; ++column) for (let k = 0; k < 3; ++k) local[3 * column + k] *= scale[column];
  local.set(position, 9);
  return local;
}

// A solid whose z axis runs from a to b, for bars: `radius` across.
export function between(a: Vec3, b: Vec3, radius: number): Float64Array {
  const local = new Float64Array(12);
  barInto(local, 0, a[0], a[1], a[2], b[0], b[1], b[2], radius, 1);
  return local;
}

// Columns x, y, z and the middle of a bar from a to b, into out[at .. at+11]; z times `stretch` is its length.
export function barInto(
  out: Float64Array,
  at: number,
  ax: number,
  ay: number,
  az: number,
  bx: number,
  by: number,
  bz: number,
  radius: number,
  stretch: number,
) {
  const dx = bx - ax;
  const dy = by - ay;
  const dz = bz - az;
  const length = Math.sqrt(dx * dx + dy * dy + dz * dz) || 1e-30;
  const zx = dx / length;
  const zy = dy / length;
  const zz = dz / length;
  // Any direction across: the axis least along z, made perpendicular.
  let ux = 0;
  let uy = 0;
  let uz = 0;
  if (Math.abs(zx) <= Math.abs(zy) && Math.abs(zx) <= Math.abs(zz)) ux = 1;
  else if (Math.abs(zy) <= Math.abs(zz)) uy = 1;
  else uz = 1;
  const along = ux * zx + uy * zy + uz * zz;
  ux -= along * zx;
  uy -= along * zy;
  uz -= along * zz;
  const norm = radius / Math.sqrt(ux * ux + uy * uy + uz * uz);
  ux *= norm;
  uy *= norm;
  uz *= norm;
  out[at] = ux;
  out[at + 1] = uy;
  out[at + 2] = uz;
  out[at + 3] = zy * uz - zz * uy;
  out[at + 4] = zz * ux - zx * uz;
  out[at + 5] = zx * uy - zy * ux;
  out[at + 6] = dx * stretch;
  out[at + 7] = dy * stretch;
  out[at + 8] = dz * stretch;
  out[at + 9] = (ax + bx) / 2;
  out[at + 10] = (ay + by) / 2;
  out[at + 11] = (az + bz) / 2;
}

export class Instances {
  readonly mesh: THREE.InstancedMesh;
  readonly copies: Copy[] = [];
  private locals = new Float64Array();
  private bodies = new Int32Array();

  constructor(geometry: THREE.BufferGeometry, material: THREE.Material, capacity: number) {
    this.mesh = new THREE.InstancedMesh(geometry, material, Math.max(1, capacity));
    this.mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    this.mesh.frustumCulled = false;
    this.mesh.count = 0;
    // Not yet placed is a point at the origin; all zeros would be a point at infinity, which takes long to draw.
    const matrices = this.mesh.instanceMatrix.array;
    for (let i = 15; i < matrices.length; i += 16) matrices[i] = 1;
    this.mesh.setColorAt(0, new THREE.Color());
  }

  // Fixed copies, once.
  fill(copies: Copy[]) {
    this.copies.push(...copies);
    this.locals = new Float64Array(12 * copies.length);
    this.bodies = new Int32Array(copies.length);
    copies.forEach((copy, i) => {
      this.locals.set(copy.local, 12 * i);
      this.bodies[i] = copy.body;
      this.mesh.setColorAt(i, copy.color);
    });
    this.mesh.count = copies.length;
  }

  color(i: number, color: THREE.Color) {
    this.mesh.setColorAt(i, color);
    this.mesh.instanceColor!.needsUpdate = true;
  }

  // rotations: 9 a body by columns, poses: 7 a body beginning with its position; the ground is the last body.
  update(rotations: Float64Array, poses: Float64Array, ground: number) {
    const out = this.mesh.instanceMatrix.array as Float32Array;
    const { locals, bodies } = this;
    for (let i = 0; i < bodies.length; ++i) {
      const body = bodies[i] < 0 ? ground : bodies[i];
      const r = 9 * body;
      const r0 = rotations[r];
      const r1 = rotations[r + 1];
      const r2 = rotations[r + 2];
      const r3 = rotations[r + 3];
      const r4 = rotations[r + 4];
      const r5 = rotations[r + 5];
      const r6 = rotations[r + 6];
      const r7 = rotations[r + 7];
      const r8 = rotations[r + 8];
      const l = 12 * i;
      const o = 16 * i;
      for (let column = 0; column < 4; ++column) {
        const x = locals[l + 3 * column];
        const y = locals[l + 3 * column + 1];
        const z = locals[l + 3 * column + 2];
        out[o + 4 * column] = r0 * x + r3 * y + r6 * z;
        out[o + 4 * column + 1] = r1 * x + r4 * y + r7 * z;
        out[o + 4 * column + 2] = r2 * x + r5 * y + r8 * z;
      }
      const p = 7 * body;
      out[o + 12] += poses[p];
      out[o + 13] += poses[p + 1];
      out[o + 14] += poses[p + 2];
      out[o + 15] = 1;
    }
    this.mesh.instanceMatrix.needsUpdate = true;
  }

  // Free copies, set anew each frame: `affine` as barInto writes it.
  set(i: number, affine: Float64Array, at: number) {
    const out = this.mesh.instanceMatrix.array as Float32Array;
    const o = 16 * i;
    for (let column = 0; column < 4; ++column) {
      out[o + 4 * column] = affine[at + 3 * column];
      out[o + 4 * column + 1] = affine[at + 3 * column + 1];
      out[o + 4 * column + 2] = affine[at + 3 * column + 2];
      out[o + 4 * column + 3] = 0;
    }
    out[o + 15] = 1;
  }
  count(n: number) {
    this.mesh.count = n;
    this.mesh.instanceMatrix.needsUpdate = true;
  }
}
