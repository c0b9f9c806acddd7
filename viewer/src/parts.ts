// From the scene's description to solids: which copies of which kinds there are, and what needs a mesh of its own.
//
// Bodies without a shape are drawn as a skeleton: bars from the mass centre to wherever something holds or touches them.
import * as THREE from "three";
import { between, placed, type Copy } from "./instances";
import { bodyColor, paintColor } from "./looks";
import type { Place, Scene, Shape, Vec3 } from "./types";

export type Kind = "sphere" | "box" | "cylinder";
export interface OwnMesh {
  body: number;
  mesh: THREE.Mesh;
  local: THREE.Matrix4;
}
export interface Parts {
  copies: Record<Kind, Copy[]>;
  own: OwnMesh[];
  plane: Shape | null; // the ground's, drawn as a grid
}

const kIdentity: [number, number, number, number] = [1, 0, 0, 0];

export function buildParts(scene: Scene, size: number, dark: boolean): Parts {
  const parts: Parts = { copies: { sphere: [], box: [], cylinder: [] }, own: [], plane: null };
  const thin = 0.006 * size;
  const flat = 0.03 * size; // thickness of plane figures

  const addOwn = (body: number, shape: Shape, geometry: THREE.BufferGeometry, color: THREE.Color, glass = false) => {
    const material = new THREE.MeshPhongMaterial({ color, specular: "#1c1c1c", shininess: 30, flatShading: shape.kind === "polytope" });
    if (glass) Object.assign(material, { transparent: true, opacity: 0.18, side: THREE.DoubleSide, depthWrite: false });
    const mesh = new THREE.Mesh(geometry, material);
    mesh.matrixAutoUpdate = false;
    mesh.frustumCulled = false;
    mesh.castShadow = !glass;
    mesh.receiveShadow = !glass;
    const [w, x, y, z] = shape.rotation;
    const local = new THREE.Matrix4().compose(
      new THREE.Vector3(...shape.position),
      new THREE.Quaternion(x, y, z, w),
      new THREE.Vector3(1, 1, 1),
    );
    parts.own.push({ body, mesh, local });
  };

  // A plane figure with some thickness about its plane.
  const slab = (figure: THREE.Shape) => {
    const geometry = new THREE.ExtrudeGeometry(figure, { depth: flat, bevelEnabled: false, curveSegments: 48 });
    geometry.translate(0, 0, -flat / 2);
    return geometry;
  };

  const addShape = (body: number, shape: Shape, color: THREE.Color, paint?: Copy["paint"]) => {
    const put = (kind: Kind, scale: Vec3, offset: Vec3 = [0, 0, 0]) => {
      const local = placed(shape.position, shape.rotation, [1, 1, 1]);
      const at: Vec3 = [0, 0, 0];
      for (let k = 0; k < 3; ++k)
        at[k] = local[9 + k] + local[k] * offset[0] + local[3 + k] * offset[1] + local[6 + k] * offset[2];
      parts.copies[kind].push({ body, local: placed(at, shape.rotation, scale), color, paint });
    };
    const r = shape.radius ?? 0;
    const l = shape.length ?? 0;
    switch (shape.kind) {
      case "box":
        put("box", shape.size ?? [1, 1, 1]);
        break;
      case "sphere":
        if (shape.hollow) addOwn(body, shape, new THREE.SphereGeometry(r, 48, 32), color, true);
        else put("sphere", r > 0 ? [r, r, r] : [2 * thin, 2 * thin, 2 * thin]);
        break;
      case "rod":
      case "cylinder": {
        const radius = r > 0 ? r : 1.2 * thin;
        put("cylinder", [radius, radius, l]);
        break;
      }
      case "capsule":
        put("cylinder", [r, r, l]);
        put("sphere", [r, r, r], [0, 0, l / 2]);
        put("sphere", [r, r, r], [0, 0, -l / 2]);
        break;
      case "circle":
        if (r <= 0) put("sphere", [2 * thin, 2 * thin, 2 * thin]);
        else if (shape.hollow) {
          const ring = new THREE.Shape().absarc(0, 0, r + 0.03 * size, 0, 2 * Math.PI);
          ring.holes.push(new THREE.Path().absarc(0, 0, r, 0, 2 * Math.PI, true));
          addOwn(body, shape, slab(ring), color);
        } else {
          put("cylinder", [r, r, flat]);
          // A spoke, so that rolling can be told from sliding.
          parts.copies.box.push({
            body,
            local: placed(shape.position, shape.rotation, [1.8 * r, Math.min(0.14 * r, 3 * thin), 1.04 * flat]),
            color: color.clone().multiplyScalar(0.55),
          });
        }
        break;
      case "line": {
        const endless = !(l > 0);
        const length = endless ? (body < 0 ? 40 * size : 0.22 * size) : l;
        put("box", [length, 2 * thin, flat], [0, -thin, 0]);
        break;
      }
      case "plane":
        if (body < 0 && !parts.plane) parts.plane = shape;
        else put("box", [0.5 * size, 0.5 * size, thin], [0, 0, -thin / 2]);
        break;
      case "polygon":
      case "ellipse":
      case "curve":
      case "spline": {
        const points = (shape.points ?? []).map(([x, y]) => new THREE.Vector2(x, y));
        if (points.length < 2) break;
        if (shape.closed) addOwn(body, shape, slab(new THREE.Shape(points)), color);
        else
          for (let i = 0; i + 1 < points.length; ++i)
            parts.copies.cylinder.push({
              body,
              local: inFrame(shape, between([points[i].x, points[i].y, 0], [points[i + 1].x, points[i + 1].y, 0], thin)),
              color,
              paint,
            });
        break;
      }
      case "polytope":
        addOwn(body, shape, polytope(shape), color);
        break;
    }
  };

  scene.bodies.forEach((body, index) => {
    const color = bodyColor(index);
    const edge = color.clone().lerp(new THREE.Color(dark ? "#ffffff" : "#30343a"), 0.25);
    for (const shape of body.shapes) addShape(index, shape, shape.role === "body" ? color : body.shapes[0].role === "body" ? edge : color);
    const solid = body.shapes.some((s) => s.role === "body" || !["line", "plane"].includes(s.kind) && (s.kind !== "circle" || (s.radius ?? 0) > 0));
    // A beam is its skin: what a skeleton would join moves by itself.
    const skinned = body.kind.endsWith("beam") && scene.surfaces.some((s) => s.body === index);
    if (solid || skinned) return;
    const ends: Vec3[] = [];
    for (const at of [...body.anchors, ...body.shapes.map((s) => s.position)])
      if (!ends.some((e) => Math.hypot(e[0] - at[0], e[1] - at[1], e[2] - at[2]) < 1e-3 * size)) ends.push(at);
    const c = body.center;
    const far = ends.filter((e) => Math.hypot(e[0] - c[0], e[1] - c[1], e[2] - c[2]) > 0.01 * size);
    for (const end of far) parts.copies.cylinder.push({ body: index, local: between(c, end, 1.4 * thin), color });
    const r = (far.length ? 2.2 : 3.2) * thin;
    parts.copies.sphere.push({ body: index, local: placed(c, kIdentity, [r, r, r]), color });
  });
  for (const shape of scene.ground.shapes) addShape(-1, shape, paintColor("ground", dark), "ground");

  const steel = paintColor("steel", dark);
  for (const joint of scene.joints) {
    const put = (kind: Kind, place: Place, scale: Vec3) =>
      parts.copies[kind].push({ body: place.body, local: placed(place.position, place.rotation, scale), color: steel, paint: "steel" });
    switch (joint.type) {
      case "revolute":
      case "cylindrical":
      case "screw":
        put("cylinder", joint.a, [1.7 * thin, 1.7 * thin, scene.planar ? 1.5 * flat : 7 * thin]);
        break;
      case "universal":
      case "spherical":
      case "constant-velocity":
        put("sphere", joint.a, [2.4 * thin, 2.4 * thin, 2.4 * thin]);
        break;
      case "prismatic":
        put("box", joint.a, [3.4 * thin, 3.4 * thin, 7 * thin]);
        break;
      case "fixed":
        put("box", joint.a, [3 * thin, 3 * thin, 3 * thin]);
        break;
    }
  }
  return parts;
}

// local affine of a thing in a shape's axes, brought to the body's.
function inFrame(shape: Shape, affine: Float64Array): Float64Array {
  const frame = placed(shape.position, shape.rotation, [1, 1, 1]);
  const out = new Float64Array(12);
  for (let column = 0; column < 4; ++column)
    for (let k = 0; k < 3; ++k) {
      out[3 * column + k] =
        frame[k] * affine[3 * column] + frame[3 + k] * affine[3 * column + 1] + frame[6 + k] * affine[3 * column + 2];
      if (column === 3) out[9 + k] += frame[9 + k];
    }
  return out;
}

function polytope(shape: Shape): THREE.BufferGeometry {
  const corners: number[] = [];
  const points = shape.points ?? [];
  for (const face of shape.faces ?? [])
    for (let i = 1; i + 1 < face.length; ++i)
      for (const v of [face[0], face[i], face[i + 1]]) corners.push(...points[v]);
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(corners), 3));
  geometry.computeVertexNormals();
  return geometry;
}

// Radius about its own origin that holds a shape; endless ones count as points.
export function reach(s: Shape): number {
  if ((s.kind === "line" && !s.length) || s.kind === "plane") return 0;
  let r = Math.hypot(s.kind === "capsule" ? 0 : (s.radius ?? 0), (s.length ?? 0) / 2);
  if (s.kind === "capsule") r += s.radius ?? 0;
  if (s.size) r = Math.max(r, Math.hypot(...s.size) / 2);
  for (const p of s.points ?? []) r = Math.max(r, Math.hypot(...p));
  return r;
}
