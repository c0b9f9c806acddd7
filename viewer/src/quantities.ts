// Names of quantities: every number a result records can be named, "rod.position.x", or the length of a vector,
// "|rod.velocity|".
import type { Channel } from "./types";

export interface Quantity {
  name: string;
  unit: string;
  description: string;
  channel: number;
  component: number; // -1: length of the vector
}

const kVectors = "xyz";

export class Quantities {
  readonly all: Quantity[] = [];
  private byName = new Map<string, Quantity>();
  private channelByName = new Map<string, number>();

  constructor(readonly channels: Channel[]) {
    channels.forEach((c, channel) => {
      this.channelByName.set(c.name, channel);
      const add = (name: string, component: number) => {
        const quantity = { name, unit: c.unit, description: c.description, channel, component };
        this.all.push(quantity);
        this.byName.set(name, quantity);
      };
      // A field over a body's skin is no curve.
      if (c.width > 1 && c.components.length === 0) return;
      if (c.width === 1) add(c.name, 0);
      else for (let k = 0; k < c.width; ++k) add(`${c.name}.${c.components[k] ?? k + 1}`, k);
      if (c.width === 3 && c.components.join("") === kVectors) add(`|${c.name}|`, -1);
    });
  }

  find(name: string): Quantity | undefined {
    return this.byName.get(name);
  }
  // Place of a channel, or -1.
  channel(name: string): number {
    return this.channelByName.get(name) ?? -1;
  }

  // Every word of the text must occur in the name (or unit); names that begin with it come first.
  search(text: string, most = 60): Quantity[] {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const hits: { q: Quantity; rank: number }[] = [];
    for (const q of this.all) {
      const name = q.name.toLowerCase();
      if (!words.every((w) => name.includes(w) || `[${q.unit}]`.includes(w))) continue;
      const rank = words.length && name.startsWith(words[0]) ? 0 : 1;
      hits.push({ q, rank });
    }
    hits.sort((a, b) => a.rank - b.rank);
    return hits.slice(0, most).map((h) => h.q);
  }
}
