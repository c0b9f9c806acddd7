// Rows in time: where in the result a moment lies, and the numbers the animation needs of it, loaded in pieces.
//
// Two levels are kept. The overview holds every n-th row of the whole run, a few hundred in all: it gives the extent of
// the motion, the trails, and something to show while the exact rows are on their way. Pieces hold rows side by
// side (or every 2^k-th while the animation runs so fast that others would not be seen); the least recently used go.
import type { Source } from "./source";
import type { Rows } from "./types";

const kPieceBytes = 1 << 20;
const kKeptBytes = 384 << 20;
const kOverviewRows = 600;
const kOverviewBytes = 24 << 20;
const kIndexRows = 100000;

interface Piece {
  rows: Rows;
  used: number;
}

// A moment between two rows of one block: rows `row` and `row + 1` mixed by `part`.
export interface Moment {
  rows: Rows;
  row: number;
  part: number;
  exact: boolean; // false: from the overview, finer rows are coming
}

// Last index with t[i] <= time (0 where all are later).
export function rowAt(t: Float64Array, time: number): number {
  let low = 0;
  let high = t.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (t[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

export class Timeline {
  rows = 0; // of samples
  first = 0;
  last = 0;
  overview: Rows = { t: new Float64Array(), columns: [] };
  onload: () => void = () => {};
  onerror: (error: unknown) => void = () => {};

  private index = new Float64Array();
  private indexStride = 1;
  private pieces = new Map<string, Piece>();
  private loading = new Set<string>();
  private clock = 0;
  private pieceRows: number;
  private rowBytes: number;

  constructor(
    private source: Source,
    readonly channels: number[],
    widths: number[],
  ) {
    this.rowBytes = 8 * (1 + widths.reduce((a, b) => a + b, 0));
    this.pieceRows = 2 ** Math.max(4, Math.min(12, Math.floor(Math.log2(kPieceBytes / this.rowBytes))));
  }

  // Takes in that the result now has so many rows; true when there are more than before.
  async grow(rows: number, first: number, last: number): Promise<boolean> {
    if (rows === this.rows) return false;
    const stride = Math.max(1, Math.ceil(rows / kIndexRows));
    if (stride !== this.indexStride || rows < this.rows) {
      this.indexStride = stride;
      this.index = new Float64Array();
    }
    const more = await this.source.rows("samples", [], this.index.length * this.indexStride, kIndexRows, this.indexStride);
    const index = new Float64Array(this.index.length + more.t.length);
    index.set(this.index);
    index.set(more.t, this.index.length);
    this.index = index;
    // The last piece was cut at the old end.
    for (const key of this.pieces.keys()) {
      const [stride2, number] = key.split(":").map(Number);
      if ((number + 1) * this.pieceRows * stride2 >= this.rows) this.pieces.delete(key);
    }
    const wanted = Math.max(16, Math.min(kOverviewRows, Math.floor(kOverviewBytes / this.rowBytes)));
    this.overview = await this.source.rows(
      "samples",
      this.channels,
      0,
      wanted + 1,
      Math.max(1, Math.ceil(rows / wanted)),
    );
    this.rows = rows;
    this.first = first;
    this.last = last;
    return true;
  }

  // The last row at or before a time, to within the index's stride.
  row(time: number): number {
    return Math.min(this.rows - 1, rowAt(this.index, time) * this.indexStride);
  }
  time(row: number): number {
    const i = Math.max(0, Math.min(this.index.length - 1, Math.round(row / this.indexStride)));
    return row >= this.rows - 1 ? this.last : (this.index[i] ?? 0);
  }

  // Numbers at a time; `stride` rows may be skipped. Loads what is missing, and what comes next when running.
  at(time: number, stride = 1, ahead = 0): Moment | null {
    if (this.rows === 0) return null;
    const level = 2 ** Math.floor(Math.log2(Math.max(1, stride)));
    const row = this.row(time);
    const number = Math.floor(row / (this.pieceRows * level));
    if (ahead > 0) this.load(level, number + 1);
    let rows = this.load(level, number);
    // The index is coarse in long runs: the moment may lie at the edge of the neighbour.
    if (rows && rows.t.length && rows.t[rows.t.length - 1] < time) rows = this.load(level, number + 1) ?? rows;
    else if (rows && rows.t.length && rows.t[0] > time && number > 0) rows = this.load(level, number - 1) ?? rows;
    if (rows && rows.t.length) return this.moment(rows, time, true);
    if (this.overview.t.length) return this.moment(this.overview, time, false);
    return null;
  }

  private moment(rows: Rows, time: number, exact: boolean): Moment {
    const row = rowAt(rows.t, time);
    const next = row + 1 < rows.t.length ? rows.t[row + 1] : rows.t[row];
    const part = next > rows.t[row] ? Math.min(1, Math.max(0, (time - rows.t[row]) / (next - rows.t[row]))) : 0;
    return { rows, row, part, exact };
  }

  private load(level: number, number: number): Rows | null {
    const step = this.pieceRows * level;
    if (number < 0 || number * step >= this.rows) return null;
    const key = `${level}:${number}`;
    const piece = this.pieces.get(key);
    if (piece) {
      piece.used = ++this.clock;
      return piece.rows;
    }
    if (this.loading.has(key) || this.loading.size > 3) return null;
    this.loading.add(key);
    // One row more, so that the last one has a neighbour to mix with.
    this.source
      .rows("samples", this.channels, number * step, this.pieceRows + 1, level)
      .then((rows) => {
        this.pieces.set(key, { rows, used: ++this.clock });
        this.forget();
        this.onload();
      }, this.onerror)
      .finally(() => this.loading.delete(key));
    return null;
  }

  private forget() {
    const bytes = this.pieceRows * this.rowBytes;
    const most = Math.max(4, Math.floor(kKeptBytes / bytes));
    if (this.pieces.size <= most) return;
    const oldest = [...this.pieces.entries()].sort((a, b) => a[1].used - b[1].used);
    for (const [key] of oldest.slice(0, this.pieces.size - most)) this.pieces.delete(key);
  }

  // Whether exact rows of this time are there (for tests and for the "loading" mark).
  get busy(): boolean {
    return this.loading.size > 0;
  }
}
