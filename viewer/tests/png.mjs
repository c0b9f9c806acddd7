// Smaller PNGs.
import { deflateSync, inflateSync } from "node:zlib";

// The browser writes PNGs in haste: the same picture with fewer shades (6 bits a colour) and packed tighter.
export function squeezed(png) {
  const header = png.subarray(0, 8);
  const chunks = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    chunks.push({ type: png.toString("latin1", at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  const [head] = chunks;
  const [width, height] = [head.data.readUInt32BE(0), head.data.readUInt32BE(4)];
  const samples = head.data[9] === 6 ? 4 : 3;
  const raw = inflateSync(Buffer.concat(chunks.filter((c) => c.type === "IDAT").map((c) => c.data)));
  const row = width * samples;
  const pixels = Buffer.alloc(row * height);
  for (let y = 0; y < height; ++y) {
    const filter = raw[y * (row + 1)];
    for (let x = 0; x < row; ++x) {
      const a = x >= samples ? pixels[y * row + x - samples] : 0;
      const b = y ? pixels[(y - 1) * row + x] : 0;
      const c = x >= samples && y ? pixels[(y - 1) * row + x - samples] : 0;
      const nearest = () => {
        const [pa, pb, pc] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)];
        return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
      };
      const guess = [0, a, b, (a + b) >> 1, filter === 4 ? nearest() : 0][filter];
      pixels[y * row + x] = raw[y * (row + 1) + 1 + x] + guess;
    }
  }
  const lines = Buffer.alloc((3 * width + 1) * height);
  for (let y = 0; y < height; ++y)
    for (let x = 0; x < width; ++x)
      for (let k = 0; k < 3; ++k) {
        const shade = pixels[y * row + x * samples + k];
        lines[y * (3 * width + 1) + 1 + 3 * x + k] = Math.round(Math.round((shade * 63) / 255) * (255 / 63));
      }
  const data = Buffer.from(head.data);
  data[9] = 2;
  const chunk = (type, body) => {
    const out = Buffer.alloc(12 + body.length);
    out.writeUInt32BE(body.length, 0);
    out.write(type, 4, "latin1");
    body.copy(out, 8);
    out.writeUInt32BE(crc32(out.subarray(4, 8 + body.length)), 8 + body.length);
    return out;
  };
  return Buffer.concat([header, chunk("IHDR", data), chunk("IDAT", deflateSync(lines, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
}
function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let k = 0; k < 8; ++k) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}
