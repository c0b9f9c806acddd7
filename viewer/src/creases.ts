// Sharp edges of a skin: a vertex where faces meet at an angle becomes several, one for each smooth side, so that light
// falls on flat faces as on flat faces and on round ones as on round ones.
import type { SkinData } from "./surfaces";

export interface Creased {
  data: SkinData;
  origin: Uint32Array | null; // vertex of the skin that each vertex stands for; null: as they were
}

const kSharp = Math.cos((40 * Math.PI) / 180);

export function creased(skin: SkinData): Creased {
  const { vertices, triangles } = skin;
  const count = vertices.length / 3;
  const faces = triangles.length / 3;
  const normals = new Float32Array(3 * faces);
  for (let f = 0; f < faces; ++f) {
    const [a, b, c] = [3 * triangles[3 * f], 3 * triangles[3 * f + 1], 3 * triangles[3 * f + 2]];
    const u = [0, 1, 2].map((k) => vertices[b + k] - vertices[a + k]);
    const v = [0, 1, 2].map((k) => vertices[c + k] - vertices[a + k]);
    const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    const size = Math.hypot(n[0], n[1], n[2]) || 1;
    for (let k = 0; k < 3; ++k) normals[3 * f + k] = n[k] / size;
  }
  // Corners of faces join across an edge that is not sharp (union-find over corners).
  const parent = Uint32Array.from({ length: triangles.length }, (_, i) => i);
  const root = (i: number) => {
    while (parent[i] !== i) i = parent[i] = parent[parent[i]];
    return i;
  };
  const edges = new Map<number, number>(); // edge: the face and corner that had it first
  let sharp = false;
  for (let f = 0; f < faces; ++f)
    for (let k = 0; k < 3; ++k) {
      const [i, j] = [3 * f + k, 3 * f + ((k + 1) % 3)];
      const [a, b] = [triangles[i], triangles[j]];
      const edge = a < b ? a * count + b : b * count + a;
      const other = edges.get(edge);
      if (other === undefined) {
        edges.set(edge, i);
        continue;
      }
      const g = Math.floor(other / 3);
      const next = 3 * g + ((other % 3) + 1) % 3;
      const cosine = normals[3 * f] * normals[3 * g] + normals[3 * f + 1] * normals[3 * g + 1] + normals[3 * f + 2] * normals[3 * g + 2];
      if (cosine < kSharp) {
        sharp = true;
        continue;
      }
      for (const [mine, vertex] of [[i, a], [j, b]]) parent[root(mine)] = root(triangles[other] === vertex ? other : next);
    }
  if (!sharp) return { data: skin, origin: null };
  const place = new Int32Array(triangles.length).fill(-1);
  const origin: number[] = [];
  const corners = new Uint32Array(triangles.length);
  for (let i = 0; i < triangles.length; ++i) {
    const r = root(i);
    if (place[r] < 0) {
      place[r] = origin.length;
      origin.push(triangles[i]);
    }
    corners[i] = place[r];
  }
  const spread = (field: Float32Array) => {
    const out = new Float32Array(3 * origin.length);
    origin.forEach((from, to) => out.set(field.subarray(3 * from, 3 * from + 3), 3 * to));
    return out;
  };
  const modes = vertices.length ? skin.modes.length / vertices.length : 0;
  const bent = new Float32Array(3 * origin.length * modes);
  for (let m = 0; m < modes; ++m)
    bent.set(spread(skin.modes.subarray(m * vertices.length, (m + 1) * vertices.length)), 3 * origin.length * m);
  return { data: { vertices: spread(vertices), triangles: corners, modes: bent }, origin: Uint32Array.from(origin) };
}
