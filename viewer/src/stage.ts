// The animation: bodies, ground, springs, contacts, trails; camera and picking. Drawn only when something changed.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Grid } from "./grid";
import { barInto, Instances, rotationColumns } from "./instances";
import { css, isDark, niceBelow, paintColor, stateColors } from "./looks";
import type { Motion } from "./motion";
import { buildParts, reach, type Kind, type OwnMesh } from "./parts";
import { Skin, type SkinData } from "./surfaces";
import { rowAt } from "./timeline";
import type { Scene, Vec3 } from "./types";

export type ViewName = "front" | "top" | "side" | "corner";
const kSpringSegments = 24;
const kMostSprings = 400;
const kMeasuredRows = 80;

export class Stage {
  readonly canvas: HTMLCanvasElement;
  selected = -1;
  follow = -1;
  show = { contacts: true, trails: true, ground: true };
  size = 1; // of the whole motion
  onpick: (body: number) => void = () => {};
  onmove: () => void = () => {};

  private renderer: THREE.WebGLRenderer;
  private world = new THREE.Scene();
  private perspective = new THREE.PerspectiveCamera(38, 1, 0.01, 100);
  private parallel = new THREE.OrthographicCamera(-1, 1, 1, -1, -100, 100);
  private camera: THREE.PerspectiveCamera | THREE.OrthographicCamera = this.perspective;
  private controls: OrbitControls;
  private sun = new THREE.DirectionalLight("#ffffff", 2.1);
  private sky = new THREE.HemisphereLight("#ffffff", "#8a8f98", 1.6);
  private grid: Grid;
  private kinds = new Map<Kind, Instances>();
  private own: OwnMesh[] = [];
  private skins: { skin: Skin; body: number }[] = [];
  private plane: Scene["ground"]["shapes"][0] | null = null;
  private springs: Instances;
  private shafts: Instances;
  private heads: Instances;
  private dots: Instances;
  private trails: { body: number; line: THREE.Line; faint: THREE.Line; t: Float64Array }[] = [];
  private rotations: Float64Array;
  private poses: Float64Array; // bodies and, last, the ground
  private affine = new Float64Array(12);
  private center = new THREE.Vector3();
  private low = 0;
  private lowCorner = new THREE.Vector3();
  private highCorner = new THREE.Vector3();
  private forceScale = 1;
  private followed = new THREE.Vector3();
  private dirty = true;
  private up = new THREE.Vector3(0, 0, 1);
  private touching: boolean[];

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
    this.touching = motion.frame.contacts.map((c) => c.contact < 0 || scene.contacts[c.contact].first !== undefined);

    this.up = upOf(scene);
    this.perspective.up.copy(this.up);
    this.parallel.up.copy(this.up);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.zoomToCursor = true;
    this.controls.addEventListener("change", () => {
      this.dirty = true;
      this.onmove();
    });
    this.measure();

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

    // Arrows are seen through bodies: what presses lies mostly between two of them.
    const plain = () => new THREE.MeshLambertMaterial({ depthTest: false, transparent: true });
    const springs = Math.min(kMostSprings, scene.forces.filter((f) => f.kind === "distance").length);
    this.springs = new Instances(geometries.cylinder, material(), springs * kSpringSegments);
    const points = motion.frame.contacts.length;
    this.shafts = new Instances(geometries.cylinder, plain(), points);
    this.heads = new Instances(new THREE.ConeGeometry(1, 1, 20).rotateX(Math.PI / 2), plain(), points);
    this.dots = new Instances(new THREE.SphereGeometry(1, 12, 8), plain(), points);
    for (const i of [this.shafts, this.heads, this.dots]) i.mesh.renderOrder = 10;
    for (const i of [this.springs, this.shafts, this.heads, this.dots]) this.world.add(i.mesh);

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
    const { frame, timeline } = this.motion;
    const { overview } = timeline;
    const low = this.lowCorner.setScalar(Infinity);
    const high = this.highCorner.setScalar(-Infinity);
    const include = (x: number, y: number, z: number, r: number) => {
      low.set(Math.min(low.x, x - r), Math.min(low.y, y - r), Math.min(low.z, z - r));
      high.set(Math.max(high.x, x + r), Math.max(high.y, y + r), Math.max(high.z, z + r));
    };
    const every = Math.max(1, Math.floor(overview.t.length / kMeasuredRows));
    const R = new Float64Array(9);
    this.scene.bodies.forEach((body, b) => {
      const column = frame.position[b];
      if (column < 0) return;
      const x = overview.columns[column];
      const q = frame.orientation[b] >= 0 ? overview.columns[frame.orientation[b]] : null;
      const marks = [...body.shapes.map((s) => ({ at: s.position, r: reach(s) })), ...[body.center, ...body.anchors].map((at) => ({ at, r: 0 }))];
      for (const { skin, body: carrier } of this.skins) if (carrier === b) marks.push(...skin.corners().map((at) => ({ at, r: 0 })));
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
    for (const shape of this.scene.ground.shapes) {
      if (shape.kind === "plane" || (shape.kind === "line" && !shape.length)) continue;
      include(...shape.position, reach(shape));
    }
    for (const a of this.scene.ground.anchors) include(...a, 0);
    if (!(high.x >= low.x)) {
      low.setScalar(-0.5);
      high.setScalar(0.5);
    }
    this.center.copy(low).add(high).multiplyScalar(0.5);
    this.size = low.distanceTo(high);
    // A single thing at rest, drawn as a mark, has no size of its own.
    if (!(this.size > 0)) this.size = 1;
    const room = Math.max(0, 0.05 * this.size - Math.min(high.x - low.x, high.y - low.y, high.z - low.z) / 2);
    low.subScalar(room);
    high.addScalar(room);
    this.low = lowest(low, high, this.up);
    // The largest force that is not a rare peak sets the scale of the arrows.
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
    this.forceScale = forces.length ? (0.2 * this.size) / forces[Math.floor(0.97 * (forces.length - 1))] : 0;
  }

  private placeGround(plane: Scene["ground"]["shapes"][0] | null) {
    const at = new THREE.Vector3();
    const rotation = new THREE.Quaternion();
    if (plane) {
      const [w, x, y, z] = plane.rotation;
      rotation.set(x, y, z, w);
      const normal = new THREE.Vector3(0, 0, 1).applyQuaternion(rotation);
      // The grid's middle stands below the motion.
      const offset = this.center.clone().sub(new THREE.Vector3(...plane.position));
      at.copy(this.center).addScaledVector(normal, -offset.dot(normal));
    } else if (this.scene.planar) {
      at.copy(this.center).setZ(-0.05 * this.size);
    } else {
      rotation.setFromUnitVectors(new THREE.Vector3(0, 0, 1), this.up);
      at.copy(this.center).addScaledVector(this.up, this.low - 0.02 * this.size - this.up.dot(this.center));
    }
    this.grid.place(at, rotation, niceBelow(this.size / 6), this.size, plane !== null, this.scene.planar);
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
    const line = new THREE.Color(css("trail"));
    for (const { line: l, faint } of this.trails) {
      (l.material as THREE.LineBasicMaterial).color.copy(line);
      (faint.material as THREE.LineBasicMaterial).color.copy(line);
    }
    const steel = new THREE.Color(dark ? "#aab4c0" : "#59636f");
    (this.springs.mesh.material as THREE.MeshPhongMaterial).color.copy(steel);
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

  // Paths of mass centres; x: 3 a time.
  setTrail(body: number, t: Float64Array, x: Float32Array) {
    this.clearTrail(body);
    const geometry = new THREE.BufferGeometry().setAttribute("position", new THREE.BufferAttribute(x, 3));
    const color = new THREE.Color(css("trail"));
    const line = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color }));
    const all = geometry.clone();
    const faint = new THREE.Line(all, new THREE.LineBasicMaterial({ color, transparent: true, opacity: 0.22 }));
    line.frustumCulled = faint.frustumCulled = false;
    this.world.add(line, faint);
    this.trails.push({ body, line, faint, t });
    this.dirty = true;
  }
  clearTrail(body: number) {
    this.trails = this.trails.filter((trail) => {
      if (trail.body !== body) return true;
      this.world.remove(trail.line, trail.faint);
      trail.line.geometry.dispose();
      trail.faint.geometry.dispose();
      return false;
    });
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
    this.updateSprings(ground);
    this.updateContacts();
    this.updateTrails(time);
    if (this.follow >= 0 && this.follow < ground) this.updateFollow();
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

  // World position of a place on a body, into out[at].
  private worldPoint(body: number, x: Vec3, out: Float64Array) {
    const r = 9 * body;
    const R = this.rotations;
    for (let k = 0; k < 3; ++k)
      out[k] = this.poses[7 * body + k] + R[r + k] * x[0] + R[r + 3 + k] * x[1] + R[r + 6 + k] * x[2];
  }

  private updateSprings(ground: number) {
    let n = 0;
    const a = new Float64Array(3);
    const b = new Float64Array(3);
    const radius = 0.0022 * this.size;
    let drawn = 0;
    for (const force of this.scene.forces) {
      if (force.kind !== "distance" || drawn++ >= kMostSprings) continue;
      this.worldPoint(force.a.body < 0 ? ground : force.a.body, force.a.position, a);
      this.worldPoint(force.b.body < 0 ? ground : force.b.body, force.b.position, b);
      barInto(this.affine, 0, a[0], a[1], a[2], b[0], b[1], b[2], 1, 1);
      const across = [this.affine[0], this.affine[1], this.affine[2]];
      const width = 0.016 * this.size;
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

  private updateContacts() {
    const { points } = this.motion;
    const count = this.motion.frame.contacts.length;
    if (!count) return;
    const colors = stateColors();
    const open = new THREE.Color(colors.open);
    const slide = new THREE.Color(colors.slide);
    const stick = new THREE.Color(colors.stick);
    let dots = 0;
    let arrows = 0;
    const r = 0.008 * this.size;
    const a = this.affine;
    if (this.show.contacts)
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
        const fx = points[at + 3] * this.forceScale;
        const fy = points[at + 4] * this.forceScale;
        const fz = points[at + 5] * this.forceScale;
        let length = Math.sqrt(fx * fx + fy * fy + fz * fz);
        if (!(length > 0.002 * this.size)) continue;
        // Peaks beyond the picture keep their direction.
        const cut = Math.min(1, (0.5 * this.size) / length);
        length *= cut;
        const head = Math.min(0.035 * this.size, 0.5 * length);
        const shaft = (length - head) / length;
        const [x, y, z] = [points[at], points[at + 1], points[at + 2]];
        const tip = [x + cut * fx, y + cut * fy, z + cut * fz];
        const neck = [x + shaft * cut * fx, y + shaft * cut * fy, z + shaft * cut * fz];
        barInto(a, 0, x, y, z, neck[0], neck[1], neck[2], 0.0042 * this.size, 1);
        this.shafts.set(arrows, a, 0);
        this.shafts.mesh.setColorAt(arrows, color);
        barInto(a, 0, neck[0], neck[1], neck[2], tip[0], tip[1], tip[2], 0.012 * this.size, 1);
        this.heads.set(arrows, a, 0);
        this.heads.mesh.setColorAt(arrows++, color);
      }
    this.dots.count(dots);
    this.shafts.count(arrows);
    this.heads.count(arrows);
    for (const i of [this.dots, this.shafts, this.heads]) i.mesh.instanceColor!.needsUpdate = true;
  }

  private updateTrails(time: number) {
    for (const { line, faint, t } of this.trails) {
      line.visible = faint.visible = this.show.trails;
      line.geometry.setDrawRange(0, rowAt(t, time) + 1);
    }
  }

  private updateFollow() {
    const b = 7 * this.follow;
    const dx = this.poses[b] - this.followed.x;
    const dy = this.poses[b + 1] - this.followed.y;
    const dz = this.poses[b + 2] - this.followed.z;
    this.followed.set(this.poses[b], this.poses[b + 1], this.poses[b + 2]);
    this.camera.position.add(new THREE.Vector3(dx, dy, dz));
    this.controls.target.add(new THREE.Vector3(dx, dy, dz));
  }

  draw() {
    this.controls.update();
    if (!this.dirty || this.canvas.width === 0) return;
    this.dirty = false;
    this.grid.mesh.visible = this.show.ground;
    // Light from over the viewer's left shoulder, about what is looked at.
    const reachNow = Math.max(this.size, 1e-9);
    const forward = this.camera.getWorldDirection(new THREE.Vector3());
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
    if (this.camera === this.perspective) {
      const distance = this.camera.position.distanceTo(this.controls.target);
      this.perspective.near = Math.max(distance / 200, 1e-6 * reachNow);
      this.perspective.far = distance + 60 * reachNow;
      this.perspective.updateProjectionMatrix();
    }
    this.renderer.render(this.world, this.camera);
  }
  redraw() {
    this.dirty = true;
  }

  // Pixel of a body's origin, or null behind the camera.
  project(body: number): { x: number; y: number } | null {
    const p = new THREE.Vector3(this.poses[7 * body], this.poses[7 * body + 1], this.poses[7 * body + 2]).project(this.camera);
    if (p.z > 1 || p.z < -1) return null;
    return { x: ((p.x + 1) / 2) * this.canvas.clientWidth, y: ((1 - p.y) / 2) * this.canvas.clientHeight };
  }

  // --- camera ---------------------------------------------------------------------------------------------------------

  get isParallel(): boolean {
    return this.camera === this.parallel;
  }

  setParallel(on: boolean) {
    if (on === this.isParallel) return;
    const from = this.camera;
    const to = on ? this.parallel : this.perspective;
    const distance = from.position.distanceTo(this.controls.target);
    to.position.copy(from.position);
    to.quaternion.copy(from.quaternion);
    if (on) this.parallel.zoom = 1 / (distance * Math.tan((this.perspective.fov * Math.PI) / 360));
    else {
      const wanted = 1 / (this.parallel.zoom * Math.tan((this.perspective.fov * Math.PI) / 360));
      const away = from.position.clone().sub(this.controls.target).normalize();
      to.position.copy(this.controls.target).addScaledVector(away, wanted);
    }
    this.camera = to;
    this.controls.object = to;
    this.resize();
  }

  // Looks at the whole motion from a side; `flat` keeps the view plane and parallel.
  look(view: ViewName, flat: boolean) {
    const away = viewDirection(view, this.up, this.scene.planar);
    const target = this.center.clone();
    if (this.follow >= 0)
      target.set(this.poses[7 * this.follow], this.poses[7 * this.follow + 1], this.poses[7 * this.follow + 2]);
    const aspect = this.host.clientWidth / Math.max(1, this.host.clientHeight) || 1;
    const slope = Math.tan((this.perspective.fov * Math.PI) / 360);
    const { half: fit, distance } = this.fit(away, target, aspect, slope);
    if (flat) this.setParallel(true);
    for (const camera of [this.perspective, this.parallel]) {
      camera.up.copy(this.up);
      // Straight from above, "up" on the screen is away from the viewer.
      if (Math.abs(away.dot(this.up)) > 0.99) away.addScaledVector(viewDirection("front", this.up, this.scene.planar), 1e-4).normalize();
      camera.position.copy(target).addScaledVector(away, distance);
      camera.lookAt(target);
    }
    this.parallel.zoom = 1 / fit;
    this.controls.target.copy(target);
    this.controls.enableRotate = !flat;
    this.controls.mouseButtons = {
      LEFT: flat ? THREE.MOUSE.PAN : THREE.MOUSE.ROTATE,
      MIDDLE: THREE.MOUSE.DOLLY,
      RIGHT: THREE.MOUSE.PAN,
    };
    this.flat = flat;
    this.resize();
    this.controls.update();
  }
  flat = false;

  // Half the height of a parallel picture from `away` that holds the whole motion, and the distance from which a
  // perspective one does (slope: half height by distance), with some room for the buttons.
  private fit(away: THREE.Vector3, target: THREE.Vector3, aspect: number, slope: number) {
    const front = viewDirection("front", this.up, this.scene.planar);
    const upright = Math.abs(away.dot(this.up)) > 0.99 ? front.clone().negate() : this.up;
    const right = new THREE.Vector3().crossVectors(upright, away).normalize();
    const up = new THREE.Vector3().crossVectors(away, right);
    let half = 1e-3 * this.size;
    let distance = 0;
    const room = 1.25;
    const corner = new THREE.Vector3();
    for (let i = 0; i < 8; ++i) {
      corner
        .set(
          i & 1 ? this.highCorner.x : this.lowCorner.x,
          i & 2 ? this.highCorner.y : this.lowCorner.y,
          i & 4 ? this.highCorner.z : this.lowCorner.z,
        )
        .sub(target);
      const needed = room * Math.max(Math.abs(corner.dot(up)), Math.abs(corner.dot(right)) / aspect);
      half = Math.max(half, needed);
      distance = Math.max(distance, corner.dot(away) + needed / slope);
    }
    return { half, distance };
  }

  setFollow(body: number) {
    this.follow = body;
    if (body < 0) return;
    this.followed.set(this.poses[7 * body], this.poses[7 * body + 1], this.poses[7 * body + 2]);
    const shift = this.followed.clone().sub(this.controls.target);
    this.controls.target.add(shift);
    this.camera.position.add(shift);
    this.dirty = true;
  }

  zoom(factor: number) {
    if (this.camera === this.parallel) this.parallel.zoom *= factor;
    else
      this.camera.position.sub(this.controls.target).multiplyScalar(1 / factor).add(this.controls.target);
    this.camera.updateProjectionMatrix();
    this.dirty = true;
    this.onmove();
  }
  turn(around: number, over: number) {
    if (this.flat) return;
    const offset = this.camera.position.clone().sub(this.controls.target);
    offset.applyAxisAngle(this.up, around);
    const side = new THREE.Vector3().crossVectors(this.up, offset).normalize();
    const turned = offset.clone().applyAxisAngle(side, over);
    if (Math.abs(turned.clone().normalize().dot(this.up)) < 0.995) offset.copy(turned);
    this.camera.position.copy(this.controls.target).add(offset);
    this.dirty = true;
  }

  private resize() {
    const width = this.host.clientWidth;
    const height = this.host.clientHeight;
    if (!width || !height) return;
    this.renderer.setSize(width, height, false);
    const aspect = width / height;
    this.perspective.aspect = aspect;
    this.perspective.updateProjectionMatrix();
    this.parallel.left = -aspect;
    this.parallel.right = aspect;
    this.parallel.near = -50 * this.size;
    this.parallel.far = 100 * this.size;
    this.parallel.updateProjectionMatrix();
    this.dirty = true;
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
    ray.setFromCamera(new THREE.Vector2(x, y), this.camera);
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

// Against gravity; without it the plane's y or the z axis.
function upOf(scene: Scene): THREE.Vector3 {
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

// From where one looks, for each upright axis.
function viewDirection(view: ViewName, up: THREE.Vector3, planar: boolean): THREE.Vector3 {
  const front = planar || Math.abs(up.y) > 0.5 ? new THREE.Vector3(0, 0, 1) : new THREE.Vector3(0, -1, 0);
  const side = new THREE.Vector3().crossVectors(up, front);
  switch (view) {
    case "front":
      return front;
    case "side":
      return side;
    case "top":
      return up.clone();
    case "corner":
      return front.clone().multiplyScalar(0.82).addScaledVector(side, 0.5).addScaledVector(up, 0.42).normalize();
  }
}
