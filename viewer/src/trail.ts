import type { Quantities } from "./quantities";
import type { Source } from "./source";
import type { Scene } from "./types";

const kTrailPoints = 4000;

export interface Trail {
  t: Float64Array;
  x: Float32Array; // 3 a time
}

// The path of a body's mass centre.
export async function bodyTrail(source: Source, quantities: Quantities, samples: number, { name, center }: Scene["bodies"][0]): Promise<Trail | null> {
  const position = quantities.channel(`${name}.position`);
  const orientation = quantities.channel(`${name}.orientation`);
  if (position < 0) return null;
  const off = Math.hypot(...center) > 0 && orientation >= 0;
  const stride = Math.max(1, Math.ceil(samples / kTrailPoints));
  const rows = await source.rows("samples", off ? [position, orientation] : [position], 0, kTrailPoints + 1, stride);
  const x = new Float32Array(3 * rows.t.length);
  for (let i = 0; i < rows.t.length; ++i) {
    for (let k = 0; k < 3; ++k) x[3 * i + k] = rows.columns[0][3 * i + k];
    if (!off) continue;
    const [w, a, b, c] = rows.columns[1].subarray(4 * i, 4 * i + 4);
    const [u, v, n] = center;
    const tx = 2 * (b * n - c * v);
    const ty = 2 * (c * u - a * n);
    const tz = 2 * (a * v - b * u);
    x[3 * i] += u + w * tx + b * tz - c * ty;
    x[3 * i + 1] += v + w * ty + c * tx - a * tz;
    x[3 * i + 2] += n + w * tz + a * ty - b * tx;
  }
  return { t: rows.t, x };
}
