// Where the numbers come from: the program that serves this page, or the page itself (a report).
import type { Checks, EventRow, Meta, Progress, Rows, Series, TableName } from "./types";

export interface Source {
  live: boolean; // more may come
  stride: number; // every n-th sample is there
  meta(): Promise<Meta>;
  progress(): Promise<Progress>;
  checks(): Promise<Checks>;
  events(first: number): Promise<EventRow[]>;
  rows(table: TableName, channels: number[], first: number, count: number, stride: number): Promise<Rows>;
  series(table: TableName, channel: number, component: number, from: number, to: number, points: number): Promise<Series>;
  surface(index: number, part: "vertices" | "triangles" | "modes"): Promise<ArrayBuffer>;
}

// An answer that says what is wrong, in the program's words.
export class SourceError extends Error {}

// 0,1,2,5 -> "0-2,5"
export function places(list: number[]): string {
  const parts: string[] = [];
  for (let i = 0; i < list.length; ) {
    let j = i;
    while (j + 1 < list.length && list[j + 1] === list[j] + 1) ++j;
    parts.push(i === j ? `${list[i]}` : `${list[i]}-${list[j]}`);
    i = j + 1;
  }
  return parts.join(",");
}

function split(numbers: Float64Array, widths: number[]): Rows {
  const n = numbers[0] ?? 0;
  let at = 1 + n;
  const columns = widths.map((width) => {
    const column = numbers.subarray(at, at + n * width);
    at += n * width;
    return column;
  });
  return { t: numbers.subarray(1, 1 + n), columns };
}

export class ServerSource implements Source {
  live = true;
  stride = 1;
  private widths: Record<TableName, number[]> = { samples: [], ledger: [] };

  private async get(what: string): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(`data/${what}`, { cache: "no-store" });
    } catch {
      throw new SourceError("`clatter view` does not answer any more. Start it again and open the address it prints.");
    }
    if (response.ok) return response;
    let text = `the program answered ${response.status}`;
    try {
      text = ((await response.json()) as { error: string }).error;
    } catch {
      // no words with it
    }
    throw new SourceError(text);
  }

  async meta() {
    const meta = (await (await this.get("meta")).json()) as Meta;
    this.widths = { samples: meta.channels.map((c) => c.width), ledger: meta.ledger.map((c) => c.width) };
    return meta;
  }
  async progress() {
    return (await (await this.get("progress")).json()) as Progress;
  }
  async checks() {
    return (await (await this.get("checks")).json()) as Checks;
  }
  async events(first: number) {
    return (await (await this.get(`events?first=${first}`)).json()) as EventRow[];
  }
  async rows(table: TableName, channels: number[], first: number, count: number, stride: number) {
    const query = `rows?table=${table}&c=${places(channels)}&first=${first}&count=${count}&stride=${stride}`;
    const numbers = new Float64Array(await (await this.get(query)).arrayBuffer());
    return split(
      numbers,
      channels.map((c) => this.widths[table][c]),
    );
  }
  async series(table: TableName, channel: number, component: number, from: number, to: number, points: number) {
    const range = (Number.isFinite(from) ? `&from=${from}` : "") + (Number.isFinite(to) ? `&to=${to}` : "");
    const k = component < 0 ? "length" : component;
    const query = `series?table=${table}&c=${channel}&k=${k}&points=${points}${range}`;
    const numbers = new Float64Array(await (await this.get(query)).arrayBuffer());
    const n = numbers[0];
    return { t: numbers.subarray(1, 1 + n), x: numbers.subarray(1 + n, 1 + 2 * n) };
  }
  async surface(index: number, part: string) {
    return (await this.get(`surface?i=${index}&part=${part}`)).arrayBuffer();
  }
}

interface Report {
  stride: number;
  ledger_stride: number;
  meta: Meta;
  checks: Checks;
  events: EventRow[];
}

// Undoes view/pack.cpp: base64, deflate, bytes of equal weight together.
export async function unpack(text: string, item: number): Promise<ArrayBuffer> {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) bytes[i] = raw.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const planes = new Uint8Array(await new Response(stream).arrayBuffer());
  const items = planes.length / item;
  const out = new Uint8Array(planes.length);
  for (let k = 0; k < item; ++k) for (let i = 0, p = k * items; i < items; ++i) out[i * item + k] = planes[p + i];
  return out.buffer;
}

export class ReportSource implements Source {
  live = false;
  stride: number;
  private loaded = new Map<string, Promise<ArrayBuffer>>();

  constructor(private report: Report) {
    this.stride = report.stride;
    const p = report.meta.progress;
    p.samples = Math.ceil(p.samples / report.stride);
    p.ledger = Math.ceil(p.ledger / report.ledger_stride);
    if (p.state === "running") p.state = "interrupted"; // a picture of a moment
  }

  private block(name: string, item = 8): Promise<ArrayBuffer> {
    let found = this.loaded.get(name);
    if (!found) {
      const element = document.getElementById(name);
      if (!element) throw new SourceError(`this report is not complete: ${name} is missing`);
      found = unpack(element.textContent ?? "", item).catch(() => {
        throw new SourceError(`this report is damaged: ${name} cannot be read`);
      });
      this.loaded.set(name, found);
    }
    return found;
  }

  async meta() {
    return this.report.meta;
  }
  async progress() {
    return this.report.meta.progress;
  }
  async checks() {
    return this.report.checks;
  }
  async events(first: number) {
    return this.report.events.slice(first);
  }

  async rows(table: TableName, channels: number[], first: number, count: number, stride: number) {
    const all = new Float64Array(await this.block(`${table}-time`));
    const n = Math.max(0, Math.min(count, Math.ceil((all.length - first) / stride)));
    const take = (from: Float64Array, width: number) => {
      if (stride === 1) return from.subarray(first * width, (first + n) * width);
      const out = new Float64Array(n * width);
      for (let i = 0; i < n; ++i)
        for (let k = 0; k < width; ++k) out[i * width + k] = from[(first + i * stride) * width + k];
      return out;
    };
    const list = table === "samples" ? this.report.meta.channels : this.report.meta.ledger;
    const columns = await Promise.all(
      channels.map(async (c) => take(new Float64Array(await this.block(`${table}-${c}`)), list[c].width)),
    );
    return { t: take(all, 1), columns };
  }

  async series(table: TableName, channel: number, component: number, from: number, to: number) {
    const list = table === "samples" ? this.report.meta.channels : this.report.meta.ledger;
    const width = list[channel].width;
    const all = new Float64Array(await this.block(`${table}-time`));
    const x = new Float64Array(await this.block(`${table}-${channel}`));
    let first = 0;
    let last = all.length;
    while (first + 1 < last && all[first + 1] < from) ++first;
    while (last - 2 > first && all[last - 2] > to) --last;
    const out = new Float64Array(last - first);
    for (let i = first; i < last; ++i) {
      let value = 0;
      if (component < 0) for (let k = 0; k < width; ++k) value += x[i * width + k] ** 2;
      out[i - first] = component < 0 ? Math.sqrt(value) : x[i * width + component];
    }
    return { t: all.subarray(first, last), x: out };
  }

  async surface(index: number, part: string) {
    return this.block(`surface-${index}-${part}`, 4);
  }
}

// The report this page holds, or the program it came from.
export function openSource(): Source {
  const element = document.getElementById("clatter-report");
  if (!element) return new ServerSource();
  return new ReportSource(JSON.parse(element.textContent ?? "") as Report);
}
