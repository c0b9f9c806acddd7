// What the program tells about a result (src/app/result_page.cpp, src/view/scene.hpp).

export type Vec3 = [number, number, number];
export type Quat = [number, number, number, number]; // w x y z

export interface Channel {
  name: string; // the quantity's name: "rod.position"
  unit: string;
  width: number;
  components: string[];
  description: string;
}

export interface Progress {
  samples: number;
  ledger: number;
  events: number;
  state: "running" | "finished" | "failed" | "interrupted" | "killed";
  message: string;
  summary: string;
  first: number;
  last: number;
  generation?: number;
}

export interface Shape {
  kind: string;
  name?: string;
  role: "body" | "contact";
  position: Vec3;
  rotation: Quat;
  size?: Vec3;
  radius?: number;
  length?: number;
  points?: Vec3[];
  faces?: number[][];
  closed?: boolean;
  hollow?: boolean;
}

export interface Place {
  body: number;
  position: Vec3;
  rotation: Quat;
}

export interface Scene {
  version: number;
  title: string;
  planar: boolean;
  gravity: Vec3;
  bodies: { name: string; kind: string; mass: number; center: Vec3; shapes: Shape[]; anchors: Vec3[] }[];
  ground: { shapes: Shape[]; anchors: Vec3[] };
  joints: { name: string; type: string; a: Place; b: Place }[];
  forces: { name: string; kind: string; a: Place; b: Place }[];
  contacts: { name: string; first?: string; second?: string }[];
  surfaces: {
    name: string;
    body: number;
    coordinates: string;
    stress?: string;
    large?: boolean;
    shapes?: { frequency: number; eta: number[] }[];
  }[];
}

export interface Meta {
  version: number;
  file: string;
  model: string;
  program: string;
  started: string;
  files: { path: string; text: string }[];
  settings: [string, string][];
  channels: Channel[];
  ledger: Channel[];
  surfaces: { name: string; vertices: number; triangles: number; modes: number }[];
  scene: Scene | null;
  progress: Progress;
  generation?: number;
}

export type EventRow = [t: number, kind: string, element: string, text: string];

export interface CheckRow {
  quantity: string;
  name: string;
  file: string;
  line: number;
  value: number;
  tolerance: number;
  from: string;
  computed?: number;
  difference?: number;
  ok?: boolean;
  reason?: string;
}

export interface Checks {
  checks?: CheckRow[];
  errors?: { file: string; line: number; column: number; message: string; hint: string }[];
}

export type TableName = "samples" | "ledger";

export interface Rows {
  t: Float64Array;
  columns: Float64Array[]; // one a channel, row by row
}

export interface Series {
  t: Float64Array;
  x: Float64Array;
}
