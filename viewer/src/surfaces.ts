// Deforming skins, moved by the graphics processor:
//   x = X + sum_k eta_k Phi_k(X),   n ~ N + sum_k eta_k dN_k(X)
// Phi_k and the change dN_k of the (area-weighted) normals lie in textures; a frame costs the script n numbers eta.
import * as THREE from "three";
import { creased } from "./creases";
import { shades } from "./stress";

const kTextureWidth = 2048;
const kMostModes = kTextureWidth; // of a reduced mesh a dozen, of a beam its coordinates
const white = new THREE.Color(1, 1, 1);

export interface SkinData {
  vertices: Float32Array;
  triangles: Uint32Array;
  modes: Float32Array; // mode by mode
}

// Sums of the normals of the triangles at each vertex, twice their area long.
export function vertexNormals(x: Float32Array, triangles: Uint32Array): Float32Array {
  const n = new Float32Array(x.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t];
    const b = 3 * triangles[t + 1];
    const c = 3 * triangles[t + 2];
    addCross(n, a, b, c, x, x);
  }
  return n;
}

// n[a], n[b], n[c] += (u_b - u_a) x (v_c - v_a)
function addCross(n: Float32Array, a: number, b: number, c: number, u: Float32Array, v: Float32Array) {
  const e0 = u[b] - u[a];
  const e1 = u[b + 1] - u[a + 1];
  const e2 = u[b + 2] - u[a + 2];
  const f0 = v[c] - v[a];
  const f1 = v[c + 1] - v[a + 1];
  const f2 = v[c + 2] - v[a + 2];
  const x = e1 * f2 - e2 * f1;
  const y = e2 * f0 - e0 * f2;
  const z = e0 * f1 - e1 * f0;
  for (const i of [a, b, c]) {
    n[i] += x;
    n[i + 1] += y;
    n[i + 2] += z;
  }
}

// Derivative of the vertex normals along a displacement field.
export function normalChange(x: Float32Array, triangles: Uint32Array, mode: Float32Array): Float32Array {
  const n = new Float32Array(x.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t];
    const b = 3 * triangles[t + 1];
    const c = 3 * triangles[t + 2];
    addCross(n, a, b, c, mode, x);
    addCross(n, a, b, c, x, mode);
  }
  return n;
}

function texture(fields: Float32Array[], vertices: number): THREE.DataTexture {
  const texels = fields.length * vertices;
  const height = Math.max(1, Math.ceil(texels / kTextureWidth));
  const data = new Float32Array(4 * kTextureWidth * height);
  fields.forEach((field, k) => {
    for (let i = 0; i < vertices; ++i) for (let c = 0; c < 3; ++c) data[4 * (k * vertices + i) + c] = field[3 * i + c];
  });
  const made = new THREE.DataTexture(data, kTextureWidth, height, THREE.RGBAFormat, THREE.FloatType);
  made.needsUpdate = true;
  return made;
}

// The modes that move each number of the vertices, one run after the other. Beams have hundreds of coordinates, of which
// each corner follows a few.
interface SparseModes {
  start: Uint32Array;
  mode: Uint32Array;
  factor: Float32Array;
}

function sparseModes(data: SkinData, modes: number): SparseModes {
  const size = data.vertices.length;
  const start = new Uint32Array(size + 1);
  for (let k = 0; k < modes; ++k) for (let i = 0; i < size; ++i) if (data.modes[k * size + i] !== 0) ++start[i + 1];
  for (let i = 0; i < size; ++i) start[i + 1] += start[i];
  const next = start.slice();
  const mode = new Uint32Array(start[size]);
  const factor = new Float32Array(start[size]);
  for (let k = 0; k < modes; ++k)
    for (let i = 0; i < size; ++i) {
      const value = data.modes[k * size + i];
      if (value === 0) continue;
      mode[next[i]] = k;
      factor[next[i]++] = value;
    }
  return { start, mode, factor };
}

export class Skin {
  readonly mesh: THREE.Mesh;
  readonly modes: number;
  exaggeration = 1;
  private own: THREE.Color;
  private eta: THREE.DataTexture;
  private amounts: Float32Array; // what it holds
  private held: number[] | null = null;
  private origin: Uint32Array | null;
  private fields: Float32Array[] = [];

  private sparse?: SparseModes; // summed here instead of by the graphics card
  private rest: Float32Array;

  // `large`: deformations are not small against the body. Vertices are then moved here, and normals follow from where they
  // are; so, too, with more modes than a texture takes.
  constructor(given: SkinData, color: THREE.ColorRepresentation, readonly large = false) {
    this.own = new THREE.Color(color);
    const { data: split, origin } = creased(given);
    let data = split;
    this.origin = origin;
    const vertices = data.vertices.length / 3;
    this.modes = vertices ? data.modes.length / data.vertices.length : 0;
    this.rest = data.vertices;
    if (large || this.modes > kMostModes) {
      this.sparse = sparseModes(data, this.modes);
      data = { ...data, vertices: data.vertices.slice() };
    }
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(data.vertices, 3));
    geometry.setAttribute("normal", new THREE.BufferAttribute(vertexNormals(data.vertices, data.triangles), 3));
    geometry.setIndex(new THREE.BufferAttribute(data.triangles, 1));
    geometry.computeBoundingSphere();
    this.amounts = new Float32Array(Math.max(1, this.modes));
    this.eta = new THREE.DataTexture(this.sparse ? null : this.amounts, this.sparse ? 1 : this.amounts.length, 1, THREE.RedFormat, THREE.FloatType);
    const material = new THREE.MeshPhongMaterial({ color, specular: "#1c1c1c", shininess: 30, side: THREE.DoubleSide });
    const depth = new THREE.MeshDepthMaterial({ depthPacking: THREE.RGBADepthPacking });
    const field = (k: number) => data.modes.subarray(k * data.vertices.length, (k + 1) * data.vertices.length);
    this.fields = Array.from({ length: this.modes }, (_, k) => field(k));
    if (this.modes > 0 && !this.sparse) {
      const shapes = texture(this.fields, vertices);
      const normals = texture(
        this.fields.map((mode) => normalChange(data.vertices, data.triangles, mode)),
        vertices,
      );
      const bend = (shader: THREE.WebGLProgramParametersWithUniforms) => {
        Object.assign(shader.uniforms, {
          modeShapes: { value: shapes },
          modeNormals: { value: normals },
          eta: { value: this.eta },
        });
        shader.vertexShader = shader.vertexShader
          .replace(
            "#include <common>",
            `#include <common>
             uniform highp sampler2D modeShapes; uniform highp sampler2D modeNormals; uniform highp sampler2D eta;
             vec3 modeSum(highp sampler2D field) {
               vec3 sum = vec3(0.0);
               for (int k = 0; k < ${this.modes}; ++k) {
                 int i = k * ${vertices} + gl_VertexID;
                 sum += texelFetch(eta, ivec2(k, 0), 0).r * texelFetch(field, ivec2(i % ${kTextureWidth}, i / ${kTextureWidth}), 0).xyz;
               }
               return sum;
             }`,
          )
          .replace("#include <beginnormal_vertex>", "#include <beginnormal_vertex>\nobjectNormal = normalize(objectNormal + modeSum(modeNormals));")
          .replace("#include <begin_vertex>", "#include <begin_vertex>\ntransformed += modeSum(modeShapes);");
      };
      material.onBeforeCompile = bend;
      depth.onBeforeCompile = bend;
      material.customProgramCacheKey = depth.customProgramCacheKey = () => `skin:${vertices}:${this.modes}:${material.vertexColors}`;
    }
    this.mesh = new THREE.Mesh(geometry, material);
    this.mesh.customDepthMaterial = depth;
    this.mesh.matrixAutoUpdate = false;
    this.mesh.frustumCulled = false;
    this.mesh.castShadow = this.mesh.receiveShadow = true;
  }

  // Of the box around the undeformed skin.
  corners(): [number, number, number][] {
    const { geometry } = this.mesh;
    if (!geometry.boundingBox) geometry.computeBoundingBox();
    const { min, max } = geometry.boundingBox!;
    return [0, 1, 2, 3, 4, 5, 6, 7].map((k) => [k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z]);
  }

  // Colours of the vertices from values between 0 and `most`; null: the body's own colour.
  paint(values: Float64Array | null, most: number) {
    const material = this.mesh.material as THREE.MeshPhongMaterial;
    if ((values !== null) !== material.vertexColors) {
      material.vertexColors = values !== null;
      material.color.copy(values ? white : this.own);
      material.needsUpdate = true;
    }
    const count = this.mesh.geometry.getAttribute("position").array.length / 3;
    if (!values) return;
    const { origin } = this;
    if (origin) values = Float64Array.from(origin, (from) => values![from]);
    if (values.length !== count) return;
    let colors = this.mesh.geometry.getAttribute("color") as THREE.BufferAttribute | undefined;
    if (!colors) {
      colors = new THREE.BufferAttribute(new Float32Array(3 * values.length), 3);
      this.mesh.geometry.setAttribute("color", colors);
    }
    shades(values, most, colors.array as Float32Array);
    colors.needsUpdate = true;
  }

  bend(eta: Float64Array) {
    if (this.held) return;
    this.take(eta, this.large ? 1 : this.exaggeration);
  }

  // A shape instead of the computed deformation, its largest displacement a twelfth of the body's size times `part`;
  // null: as computed again.
  hold(eta: number[] | null, part: number) {
    this.held = eta;
    if (!eta) return;
    const u = new Float32Array(this.mesh.geometry.getAttribute("position").array.length);
    for (let k = 0; k < Math.min(eta.length, this.modes); ++k)
      if (eta[k] !== 0) for (let i = 0; i < u.length; ++i) u[i] += eta[k] * this.fields[k][i];
    let most = 0;
    for (let i = 0; i < u.length; i += 3) most = Math.max(most, Math.hypot(u[i], u[i + 1], u[i + 2]));
    const size = 2 * (this.mesh.geometry.boundingSphere?.radius ?? 1);
    this.take(eta, most > 0 ? (part * size) / (12 * most) : 0);
  }

  private take(eta: ArrayLike<number>, factor: number) {
    const n = Math.min(this.modes, eta.length);
    for (let k = 0; k < n; ++k) this.amounts[k] = factor * eta[k];
    if (!this.sparse) {
      this.eta.needsUpdate = true;
      return;
    }
    const { start, mode, factor: amount } = this.sparse;
    const position = this.mesh.geometry.getAttribute("position") as THREE.BufferAttribute;
    for (let i = 0; i < this.rest.length; ++i) {
      let x = this.rest[i];
      for (let e = start[i]; e < start[i + 1]; ++e) x += this.amounts[mode[e]] * amount[e];
      position.array[i] = x;
    }
    position.needsUpdate = true;
    this.mesh.geometry.computeVertexNormals();
    this.mesh.geometry.boundingSphere = null; // found anew when somebody points at it
  }
}
