// Poses of all bodies and what contacts do, at any time: numbers of neighbouring rows mixed (positions straight,
// rotations along the shorter way, q and -q being the same).
import type { Moment, Timeline } from "./timeline";
import type { Quantities } from "./quantities";
import type { Scene } from "./types";

export interface ContactPoint {
  contact: number; // place in the scene's list, or -1
  name: string; // "touch", or "touch[3]"
  point: number; // places in the block's columns, -1: not recorded
  force: number;
  state: number;
}

export class FrameChannels {
  readonly channels: number[] = [];
  readonly widths: number[] = [];
  readonly position: number[] = []; // per body: place in the block, -1
  readonly orientation: number[] = [];
  readonly contacts: ContactPoint[] = [];
  readonly coordinates: number[] = []; // per surface

  constructor(quantities: Quantities, scene: Scene) {
    const take = (name: string, width: number): number => {
      const channel = quantities.channel(name);
      if (channel < 0 || (width > 0 && quantities.channels[channel].width !== width)) return -1;
      this.channels.push(channel);
      this.widths.push(quantities.channels[channel].width);
      return this.channels.length - 1;
    };
    for (const body of scene.bodies) {
      this.position.push(take(`${body.name}.position`, 3));
      this.orientation.push(take(`${body.name}.orientation`, 4));
    }
    const known = new Map(scene.contacts.map((c, i) => [c.name, i]));
    // Single points where they are recorded, else the whole contact.
    const single = new Set<string>();
    const names: { name: string; contact: number }[] = [];
    for (const channel of quantities.channels) {
      const match = /^(.*)\[\d+\]\.point$/.exec(channel.name);
      if (!match) continue;
      single.add(match[1]);
      names.push({ name: channel.name.slice(0, -".point".length), contact: known.get(match[1]) ?? -1 });
    }
    scene.contacts.forEach((c, i) => {
      if (!single.has(c.name)) names.push({ name: c.name, contact: i });
    });
    for (const { name, contact } of names) {
      const point = { contact, name, point: take(`${name}.point`, 3), force: take(`${name}.force`, 3), state: take(`${name}.state`, 1) };
      if (point.point >= 0) this.contacts.push(point);
    }
    for (const surface of scene.surfaces) this.coordinates.push(surface.coordinates ? take(surface.coordinates, 0) : -1);
  }
}

export class Motion {
  readonly poses: Float64Array; // 7 a body: x y z, w x y z
  readonly points: Float64Array; // 7 a contact point: point, force, state
  readonly eta: Float64Array[]; // elastic coordinates, a list a surface
  exact = false;

  constructor(
    readonly frame: FrameChannels,
    readonly timeline: Timeline,
  ) {
    this.poses = new Float64Array(7 * frame.position.length);
    for (let b = 0; b < frame.position.length; ++b) this.poses[7 * b + 3] = 1;
    this.points = new Float64Array(7 * frame.contacts.length);
    this.eta = frame.coordinates.map((c) => new Float64Array(c < 0 ? 0 : frame.widths[c]));
  }

  // Moves everything to `time`; false when nothing is known of it yet.
  goto(time: number, stride: number, ahead: number): boolean {
    const moment = this.timeline.at(time, stride, ahead);
    if (!moment) return false;
    this.exact = moment.exact;
    this.mix(moment);
    return true;
  }

  private mix({ rows, row, part }: Moment) {
    const { frame, poses, points } = this;
    const next = row + 1 < rows.t.length ? row + 1 : row;
    const p = part;
    for (let b = 0; b < frame.position.length; ++b) {
      const at = 7 * b;
      const position = frame.position[b];
      if (position >= 0) {
        const x = rows.columns[position];
        const i = 3 * row;
        const j = 3 * next;
        poses[at] = x[i] + p * (x[j] - x[i]);
        poses[at + 1] = x[i + 1] + p * (x[j + 1] - x[i + 1]);
        poses[at + 2] = x[i + 2] + p * (x[j + 2] - x[i + 2]);
      }
      const orientation = frame.orientation[b];
      if (orientation >= 0) {
        const q = rows.columns[orientation];
        const i = 4 * row;
        const j = 4 * next;
        const same = q[i] * q[j] + q[i + 1] * q[j + 1] + q[i + 2] * q[j + 2] + q[i + 3] * q[j + 3] >= 0 ? p : -p;
        const w = (1 - p) * q[i] + same * q[j];
        const u = (1 - p) * q[i + 1] + same * q[j + 1];
        const v = (1 - p) * q[i + 2] + same * q[j + 2];
        const z = (1 - p) * q[i + 3] + same * q[j + 3];
        const scale = 1 / (Math.sqrt(w * w + u * u + v * v + z * z) || 1);
        poses[at + 3] = w * scale;
        poses[at + 4] = u * scale;
        poses[at + 5] = v * scale;
        poses[at + 6] = z * scale;
      }
    }
    for (let c = 0; c < frame.contacts.length; ++c) {
      const { point, force, state } = frame.contacts[c];
      const at = 7 * c;
      const s0 = state >= 0 ? rows.columns[state][row] : 1;
      const s1 = state >= 0 ? rows.columns[state][next] : 1;
      // A contact opens and closes at once: only within one state is there anything between two rows.
      const q = s0 === s1 ? p : 0;
      const x = rows.columns[point];
      const f = force >= 0 ? rows.columns[force] : null;
      for (let k = 0; k < 3; ++k) {
        points[at + k] = x[3 * row + k] + q * (x[3 * next + k] - x[3 * row + k]);
        points[at + 3 + k] = f ? f[3 * row + k] + q * (f[3 * next + k] - f[3 * row + k]) : 0;
      }
      points[at + 6] = s0;
    }
    for (let s = 0; s < frame.coordinates.length; ++s) {
      const column = frame.coordinates[s];
      if (column < 0) continue;
      const x = rows.columns[column];
      const n = frame.widths[column];
      for (let k = 0; k < n; ++k) this.eta[s][k] = x[n * row + k] + p * (x[n * next + k] - x[n * row + k]);
    }
  }
}
