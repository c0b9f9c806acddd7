// The animation: bodies and ground, their looks, picking; what else is drawn is in marks.ts, the camera in viewpoint.ts. Drawn only when something changed.
import * as THREE from "three";
import type { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { forceScale, measure, upOf, type CarriedSkin, type Extent } from "./extent";
import { Grid } from "./grid";
import { Instances, rotationColumns } from "./instances";
import { css, isDark, niceBelow, paintColor } from "./looks";
import { ContactMarks, Springs, Trails } from "./marks";
import type { Motion } from "./motion";
import { buildParts, type Kind, type OwnMesh } from "./parts";
import { Skin, type SkinData } from "./surfaces";
import type { Scene, Vec3 } from "./types";
import { Viewpoint, type ViewName } from "./viewpoint";

export class Stage {
  readonly canvas: HTMLCanvasElement;
  selected = -1;
  show = { contacts: true, trails: true, ground: true };
  onpick: (body: number) => void = () => {};

  private renderer: THREE.WebGLRenderer;
  private world = new THREE.Scene();
  private sun = new THREE.DirectionalLight("#ffffff", 2.1);
  private sky = new THREE.HemisphereLight("#ffffff", "#8a8f98", 1.6);
  private grid: Grid;
  private kinds = new Map<Kind, Instances>();
  private own: OwnMesh[] = [];
  private skins: CarriedSkin[] = [];
  private plane: Scene["ground"]["shapes"][0] | null = null;
  private springs: Springs;
  private marks: ContactMarks;
  private trails = new Trails(this.world);
  private viewpoint: Viewpoint;
  private extent!: Extent; // by measure()
  private rotations: Float64Array;
  private poses: Float64Array; // bodies and, last, the ground
  private forceScale = 1;
  private dirty = true;
  private up = new THREE.Vector3(0, 0, 1);

  constructor(
    private host: HTMLElement,
    private scene: Scene,
    private motion: Motion,
  ) {
    this.renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    host.prepend(this.canvas);

    const bodies = scene.bodies.length;
    this.rotations = new Float64Array(9 * (bodies + 1));
    this.poses = new Float64Array(7 * (bodies + 1));
    this.poses[7 * bodies + 3] = 1;
    rotationColumns(1, 0, 0, 0, this.rotations, 9 * bodies);

    this.up = upOf(scene);
    this.measure();
    this.viewpoint = new Viewpoint(this.canvas, host, this.up, scene.planar, () => this.extent, this.poses, () => (this.dirty = true));

    this.world.add(this.sky, this.sun, this.sun.target);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.grid = new Grid();
    this.world.add(this.grid.mesh);

    const parts = buildParts(scene, this.size, isDark());
    const material = () => new THREE.MeshPhongMaterial({ specular: "#1c1c1c", shininess: 30 });
    const copies = Object.values(parts.copies).reduce((n, list) => n + list.length, 0);
    const round = copies <= 150 ? 32 : copies <= 1500 ? 20 : 12; // sides of round things
    // A processor that draws in place of a graphics card has no time for the shadows of crowds.
    this.renderer.shadowMap.enabled = !(copies > 150 && isSoftware(this.renderer));
    const geometries: Record<Kind, THREE.BufferGeometry> = {
      sphere: new THREE.SphereGeometry(1, round, Math.round(0.6 * round)),
      box: new THREE.BoxGeometry(1, 1, 1),
      cylinder: new THREE.CylinderGeometry(1, 1, 1, round).rotateX(Math.PI / 2),
    };
    for (const kind of ["sphere", "box", "cylinder"] as Kind[]) {
      if (!parts.copies[kind].length) continue;
      const instances = new Instances(geometries[kind], material(), parts.copies[kind].length);
      instances.fill(parts.copies[kind]);
      instances.mesh.castShadow = instances.mesh.receiveShadow = true;
      this.kinds.set(kind, instances);
      this.world.add(instances.mesh);
    }
    this.own = parts.own;
    for (const own of this.own) this.world.add(own.mesh);
    this.plane = parts.plane;
    this.placeGround(this.plane);

    this.springs = new Springs(scene, geometries.cylinder, material());
    this.marks = new ContactMarks(scene, motion, geometries.cylinder);
    this.world.add(this.springs.mesh, ...this.marks.meshes);

    this.watchClicks();
    this.theme();
    this.look(scene.planar ? "front" : "corner", scene.planar);
    new ResizeObserver(() => this.resize()).observe(host);
    this.resize();
  }

  // --- extent of the motion -------------------------------------------------------------------------------------------

  // The extent with skins that have come since.
  refit() {
    this.measure();
    this.placeGround(this.plane);
    this.dirty = true;
  }

  private measure() {
    this.extent = measure(this.scene, this.motion, this.skins, this.up);
    this.forceScale = forceScale(this.motion, this.extent.size);
  }

  private placeGround(plane: Scene["ground"]["shapes"][0] | null) {
    const { center, size, lowest } = this.extent;
    const at = new THREE.Vector3();
    const rotation = new THREE.Quaternion();
    if (plane) {
      const [w, x, y, z] = plane.rotation;
      rotation.set(x, y, z, w);
      const normal = new THREE.Vector3(0, 0, 1).applyQuaternion(rotation);
      // The grid's middle stands below the motion.
      const offset = center.clone().sub(new THREE.Vector3(...plane.position));
      at.copy(center).addScaledVector(normal, -offset.dot(normal));
    } else if (this.scene.planar) {
      at.copy(center).setZ(-0.05 * size);
    } else {
      rotation.setFromUnitVectors(new THREE.Vector3(0, 0, 1), this.up);
      at.copy(center).addScaledVector(this.up, lowest - 0.02 * size - this.up.dot(center));
    }
    this.grid.place(at, rotation, niceBelow(size / 6), size, plane !== null, this.scene.planar);
  }
  get size(): number {
    return this.extent.size;
  }
  get gridCell(): number {
    return this.grid.cell;
  }

  // --- looks ----------------------------------------------------------------------------------------------------------

  theme() {
    const dark = isDark();
    this.world.background = new THREE.Color(css("stage"));
    this.grid.theme(dark);
    this.sky.intensity = dark ? 1.1 : 1.7;
    this.sun.intensity = dark ? 2.0 : 2.1;
    for (const instances of this.kinds.values())
      instances.copies.forEach((copy, i) => copy.paint && instances.color(i, copy.color.copy(paintColor(copy.paint, dark))));
    this.trails.theme();
    this.springs.theme(dark);
    this.highlight();
    this.dirty = true;
  }

  select(body: number) {
    this.selected = body;
    this.highlight();
    this.dirty = true;
  }
  private highlight() {
    const accent = new THREE.Color(css("accent"));
    for (const instances of this.kinds.values())
      instances.copies.forEach((copy, i) => {
        instances.color(i, copy.body >= 0 && copy.body === this.selected ? copy.color.clone().lerp(accent, 0.65) : copy.color);
      });
    for (const { body, mesh } of this.own)
      (mesh.material as THREE.MeshPhongMaterial).emissive.copy(accent).multiplyScalar(body >= 0 && body === this.selected ? 0.45 : 0);
    for (const { body, skin } of this.skins)
      (skin.mesh.material as THREE.MeshPhongMaterial).emissive.copy(accent).multiplyScalar(body === this.selected ? 0.3 : 0);
  }

  addSkin(data: SkinData, body: number, color: THREE.ColorRepresentation, large = false) {
    const skin = new Skin(data, color, large);
    this.skins.push({ skin, body });
    this.world.add(skin.mesh);
    this.dirty = true;
  }
  // Colours a skin by values at its vertices; null: its body's colour again.
  paint(skin: number, values: Float64Array | null, most: number) {
    this.skins[skin]?.skin.paint(values, most);
    this.dirty = true;
  }
  get deforms(): boolean {
    return this.skins.some((s) => s.skin.modes > 0 && !s.skin.large);
  }
  // Shows a shape of vibration on a skin; null: what was computed.
  hold(skin: number, eta: number[] | null, part: number) {
    const { skin: held } = this.skins[skin] ?? {};
    if (!held) return;
    held.hold(eta, part);
    if (!eta) held.bend(this.motion.eta[skin]);
    this.dirty = true;
  }
  exaggerate(factor: number) {
    for (const { skin } of this.skins) skin.exaggeration = factor;
    this.dirty = true;
  }

  setTrail(body: number, t: Float64Array, x: Float32Array) {
    this.trails.set(body, t, x);
    this.dirty = true;
  }

  // --- one frame ------------------------------------------------------------------------------------------------------

  // Brings everything to what `motion` holds. This is the script's own cost of a frame.
  update(time: number) {
    const { motion, poses, rotations } = this;
    const ground = this.scene.bodies.length;
    poses.set(motion.poses);
    for (let b = 0; b < ground; ++b)
      rotationColumns(poses[7 * b + 3], poses[7 * b + 4], poses[7 * b + 5], poses[7 * b + 6], rotations, 9 * b);
    for (const instances of this.kinds.values()) instances.update(rotations, poses, ground);
    for (const { body, mesh, local } of this.own) this.moveMesh(mesh, body < 0 ? ground : body, local);
    for (let s = 0; s < this.skins.length; ++s) {
      const { skin, body } = this.skins[s];
      this.moveMesh(skin.mesh, body < 0 ? ground : body, null);
      skin.bend(motion.eta[s]);
    }
    this.springs.update(ground, this.size, this.worldPoint);
    this.marks.update(this.show.contacts, this.size, this.forceScale);
    this.trails.update(time, this.show.trails);
    this.viewpoint.keepUp();
    this.dirty = true;
  }

  private moveMesh(mesh: THREE.Mesh, body: number, local: THREE.Matrix4 | null) {
    const e = mesh.matrix.elements;
    const r = this.rotations;
    for (let column = 0; column < 3; ++column) {
      for (let k = 0; k < 3; ++k) e[4 * column + k] = r[9 * body + 3 * column + k];
      e[4 * column + 3] = 0;
    }
    for (let k = 0; k < 3; ++k) e[12 + k] = this.poses[7 * body + k];
    e[15] = 1;
    if (local) mesh.matrix.multiply(local);
    mesh.matrixWorldNeedsUpdate = true;
  }

  private worldPoint = (body: number, x: Vec3, out: Float64Array) => {
    const r = 9 * body;
    const R = this.rotations;
    for (let k = 0; k < 3; ++k)
      out[k] = this.poses[7 * body + k] + R[r + k] * x[0] + R[r + 3 + k] * x[1] + R[r + 6 + k] * x[2];
  };

  draw() {
    this.controls.update();
    if (!this.dirty || this.canvas.width === 0) return;
    this.dirty = false;
    this.grid.mesh.visible = this.show.ground;
    // Light from over the viewer's left shoulder, about what is looked at.
    const { camera } = this.viewpoint;
    const reachNow = Math.max(this.size, 1e-9);
    const forward = camera.getWorldDirection(new THREE.Vector3());
    const left = new THREE.Vector3().crossVectors(this.up, forward).normalize();
    if (!(left.lengthSq() > 0.5)) left.set(1, 0, 0);
    this.sun.target.position.copy(this.controls.target);
    this.sun.position
      .copy(this.controls.target)
      .addScaledVector(forward, -1.2 * reachNow)
      .addScaledVector(left, 0.7 * reachNow)
      .addScaledVector(this.up, 1.4 * reachNow);
    const shadow = this.sun.shadow.camera;
    shadow.left = shadow.bottom = -0.75 * reachNow;
    shadow.right = shadow.top = 0.75 * reachNow;
    shadow.near = 0.05 * reachNow;
    shadow.far = 6 * reachNow;
    this.sun.shadow.normalBias = 0.002 * reachNow;
    shadow.updateProjectionMatrix();
    this.viewpoint.fitDepth(reachNow);
    this.renderer.render(this.world, camera);
  }
  redraw() {
    this.dirty = true;
  }

  // --- camera ---------------------------------------------------------------------------------------------------------

  get controls(): OrbitControls {
    return this.viewpoint.controls;
  }
  get isParallel(): boolean {
    return this.viewpoint.isParallel;
  }
  get flat(): boolean {
    return this.viewpoint.flat;
  }
  get follow(): number {
    return this.viewpoint.follow;
  }
  set onmove(heard: () => void) {
    this.viewpoint.onmove = heard;
  }
  setParallel(on: boolean) {
    this.viewpoint.setParallel(on);
  }
  look(view: ViewName, flat: boolean) {
    this.viewpoint.look(view, flat);
  }
  setFollow(body: number) {
    this.viewpoint.setFollow(body);
  }
  zoom(factor: number) {
    this.viewpoint.zoom(factor);
  }
  turn(around: number, over: number) {
    this.viewpoint.turn(around, over);
  }
  project(body: number): { x: number; y: number } | null {
    return this.viewpoint.project(body);
  }

  private resize() {
    const width = this.host.clientWidth;
    const height = this.host.clientHeight;
    if (!width || !height) return;
    this.renderer.setSize(width, height, false);
    this.viewpoint.resize();
  }

  // --- picking --------------------------------------------------------------------------------------------------------

  private watchClicks() {
    let down: { x: number; y: number } | null = null;
    this.canvas.addEventListener("pointerdown", (e) => (down = { x: e.clientX, y: e.clientY }));
    this.canvas.addEventListener("pointerup", (e) => {
      if (!down || Math.hypot(e.clientX - down.x, e.clientY - down.y) > 4 || e.button !== 0) return;
      const box = this.canvas.getBoundingClientRect();
      this.onpick(this.pick(((e.clientX - box.left) / box.width) * 2 - 1, 1 - ((e.clientY - box.top) / box.height) * 2));
    });
  }

  private pick(x: number, y: number): number {
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(x, y), this.viewpoint.camera);
    let best = Infinity;
    let body = -1;
    const consider = (hit: THREE.Intersection | undefined, owner: (hit: THREE.Intersection) => number) => {
      if (hit && hit.distance < best) {
        best = hit.distance;
        body = owner(hit);
      }
    };
    for (const instances of this.kinds.values()) {
      instances.mesh.computeBoundingSphere();
      consider(ray.intersectObject(instances.mesh)[0], (hit) => instances.copies[hit.instanceId ?? 0].body);
    }
    for (const own of this.own) consider(ray.intersectObject(own.mesh)[0], () => own.body);
    for (const { skin, body: carrier } of this.skins) consider(ray.intersectObject(skin.mesh)[0], () => carrier);
    return body;
  }
}

function isSoftware(renderer: THREE.WebGLRenderer): boolean {
  const gl = renderer.getContext();
  const names = gl.getExtension("WEBGL_debug_renderer_info");
  const name = names ? String(gl.getParameter(names.UNMASKED_RENDERER_WEBGL)) : "";
  return /swiftshader|llvmpipe|softpipe|software/i.test(name);
}
