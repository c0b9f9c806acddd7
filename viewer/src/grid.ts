// The ground as a grid that fades out: lines one cell apart, every fifth stronger; their width stays the same on the
// screen.
import * as THREE from "three";

export class Grid {
  readonly mesh: THREE.Mesh;
  cell = 1;
  private shadow: THREE.Mesh;
  private uniforms = {
    cell: { value: 1 },
    reach: { value: 1 },
    line: { value: new THREE.Color() },
    fill: { value: new THREE.Color() },
    solid: { value: 0 },
  };

  constructor() {
    const material = new THREE.ShaderMaterial({
      uniforms: this.uniforms,
      transparent: true,
      depthWrite: false,
      side: THREE.DoubleSide,
      vertexShader: `varying vec2 at;
        void main() { at = position.xy; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }`,
      fragmentShader: `varying vec2 at; uniform float cell, reach, solid; uniform vec3 line, fill;
        float lines(vec2 x) {
          vec2 w = fwidth(x);
          vec2 d = abs(fract(x - 0.5) - 0.5) / max(w, 1e-6);
          float l = 1.0 - min(min(d.x, d.y), 1.0);
          return l * clamp(0.35 / max(w.x, w.y), 0.0, 1.0);
        }
        void main() {
          float fade = 1.0 - smoothstep(0.35 * reach, reach, length(at));
          float l = max(0.45 * lines(at / cell), 0.9 * lines(at / (5.0 * cell)));
          float a = max(l * 0.75, solid * 0.5) * fade;
          if (a < 0.004) discard;
          gl_FragColor = vec4(mix(fill, line, l), a);
          #include <colorspace_fragment>
        }`,
    });
    this.mesh = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), material);
    this.mesh.renderOrder = -1;
    this.shadow = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), new THREE.ShadowMaterial({ opacity: 0.22 }));
    this.shadow.receiveShadow = true;
    this.mesh.add(this.shadow);
  }

  place(at: THREE.Vector3, rotation: THREE.Quaternion, cell: number, size: number, solid: boolean, backdrop: boolean) {
    const reach = 3 * size;
    // Lines pass through the origin of the world, wherever the grid's middle is.
    const x = new THREE.Vector3(1, 0, 0).applyQuaternion(rotation);
    const y = new THREE.Vector3(0, 1, 0).applyQuaternion(rotation);
    const five = 5 * cell;
    const moved = at.clone();
    moved.addScaledVector(x, Math.round(at.dot(x) / five) * five - at.dot(x));
    moved.addScaledVector(y, Math.round(at.dot(y) / five) * five - at.dot(y));
    this.cell = cell;
    this.uniforms.cell.value = cell;
    this.uniforms.reach.value = reach;
    this.uniforms.solid.value = solid ? 1 : 0;
    this.mesh.geometry.dispose();
    this.mesh.geometry = new THREE.PlaneGeometry(2 * reach, 2 * reach);
    this.shadow.geometry.dispose();
    this.shadow.geometry = new THREE.PlaneGeometry(2 * reach, 2 * reach);
    this.shadow.visible = !backdrop;
    this.mesh.position.copy(moved);
    this.mesh.quaternion.copy(rotation);
  }

  theme(dark: boolean) {
    this.uniforms.line.value.set(dark ? "#5d6875" : "#9aa5b1");
    this.uniforms.fill.value.set(dark ? "#2b323b" : "#e3e7ec");
    (this.shadow.material as THREE.ShadowMaterial).opacity = dark ? 0.45 : 0.2;
  }
}
