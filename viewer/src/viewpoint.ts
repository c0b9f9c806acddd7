// From where the motion is seen: a perspective and a parallel camera, the mouse, following a body.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { Extent } from "./extent";

export type ViewName = "front" | "top" | "side" | "corner";

export class Viewpoint {
  follow = -1;
  flat = false; // the view stays plane and parallel
  readonly controls: OrbitControls;
  onmove: () => void = () => {};

  private perspective = new THREE.PerspectiveCamera(38, 1, 0.01, 100);
  private parallel = new THREE.OrthographicCamera(-1, 1, 1, -1, -100, 100);
  camera: THREE.PerspectiveCamera | THREE.OrthographicCamera = this.perspective;
  private followed = new THREE.Vector3();

  constructor(
    private canvas: HTMLCanvasElement,
    private host: HTMLElement,
    private up: THREE.Vector3,
    private planar: boolean,
    private extent: () => Extent,
    private poses: Float64Array, // 7 a body, position first
    private onchange: () => void,
  ) {
    this.perspective.up.copy(up);
    this.parallel.up.copy(up);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.zoomToCursor = true;
    this.controls.addEventListener("change", () => {
      this.onchange();
      this.onmove();
    });
  }

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
    const away = viewDirection(view, this.up, this.planar);
    const target = this.extent().center.clone();
    if (this.follow >= 0)
      target.set(this.poses[7 * this.follow], this.poses[7 * this.follow + 1], this.poses[7 * this.follow + 2]);
    const aspect = this.host.clientWidth / Math.max(1, this.host.clientHeight) || 1;
    const slope = Math.tan((this.perspective.fov * Math.PI) / 360);
    const { half: fit, distance } = this.fit(away, target, aspect, slope);
    if (flat) this.setParallel(true);
    for (const camera of [this.perspective, this.parallel]) {
      camera.up.copy(this.up);
      // Straight from above, "up" on the screen is away from the viewer.
      if (Math.abs(away.dot(this.up)) > 0.99) away.addScaledVector(viewDirection("front", this.up, this.planar), 1e-4).normalize();
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
  // Half the height of a parallel picture from `away` that holds the whole motion, and the distance from which a
  // perspective one does (slope: half height by distance), with some room for the buttons.
  private fit(away: THREE.Vector3, target: THREE.Vector3, aspect: number, slope: number) {
    const front = viewDirection("front", this.up, this.planar);
    const upright = Math.abs(away.dot(this.up)) > 0.99 ? front.clone().negate() : this.up;
    const right = new THREE.Vector3().crossVectors(upright, away).normalize();
    const up = new THREE.Vector3().crossVectors(away, right);
    const { low, high } = this.extent();
    let half = 1e-3 * this.extent().size;
    let distance = 0;
    const room = 1.25;
    const corner = new THREE.Vector3();
    for (let i = 0; i < 8; ++i) {
      corner
        .set(
          i & 1 ? high.x : low.x,
          i & 2 ? high.y : low.y,
          i & 4 ? high.z : low.z,
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
    this.onchange();
  }

  zoom(factor: number) {
    if (this.camera === this.parallel) this.parallel.zoom *= factor;
    else
      this.camera.position.sub(this.controls.target).multiplyScalar(1 / factor).add(this.controls.target);
    this.camera.updateProjectionMatrix();
    this.onchange();
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
    this.onchange();
  }

  resize() {
    const width = this.host.clientWidth;
    const height = this.host.clientHeight;
    if (!width || !height) return;
    const aspect = width / height;
    this.perspective.aspect = aspect;
    this.perspective.updateProjectionMatrix();
    this.parallel.left = -aspect;
    this.parallel.right = aspect;
    this.parallel.near = -50 * this.extent().size;
    this.parallel.far = 100 * this.extent().size;
    this.parallel.updateProjectionMatrix();
    this.onchange();
  }

  // Keeps the distance to the body that is followed, which has moved.
  keepUp() {
    if (this.follow < 0) return;
    const b = 7 * this.follow;
    const dx = this.poses[b] - this.followed.x;
    const dy = this.poses[b + 1] - this.followed.y;
    const dz = this.poses[b + 2] - this.followed.z;
    this.followed.set(this.poses[b], this.poses[b + 1], this.poses[b + 2]);
    this.camera.position.add(new THREE.Vector3(dx, dy, dz));
    this.controls.target.add(new THREE.Vector3(dx, dy, dz));
  }

  // The depths a perspective picture holds, before it is drawn.
  fitDepth(reach: number) {
    if (this.camera !== this.perspective) return;
    const distance = this.camera.position.distanceTo(this.controls.target);
    this.perspective.near = Math.max(distance / 200, 1e-6 * reach);
    this.perspective.far = distance + 60 * reach;
    this.perspective.updateProjectionMatrix();
  }

  // Pixel of a body's origin, or null behind the camera.
  project(body: number): { x: number; y: number } | null {
    const p = new THREE.Vector3(this.poses[7 * body], this.poses[7 * body + 1], this.poses[7 * body + 2]).project(this.camera);
    if (p.z > 1 || p.z < -1) return null;
    return { x: ((p.x + 1) / 2) * this.canvas.clientWidth, y: ((1 - p.y) / 2) * this.canvas.clientHeight };
  }
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
