// The program as a process: runs of models, the server, exit codes and messages.
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const executable = resolve(process.env.CLATTER ?? join(root, "build/release/clatter"));

export class Program {
  #children = new Set();
  constructor(folder) {
    this.folder = folder;
  }

  // {code, out, err}
  call(...args) {
    const r = spawnSync(executable, args, { cwd: this.folder, encoding: "utf8", maxBuffer: 1 << 28 });
    return { code: r.status, out: r.stdout, err: r.stderr };
  }

  // The same by a copy of the program that has no page beside it.
  elsewhere(...args) {
    const alone = mkdtempSync(join(this.folder, "alone-"));
    copyFileSync(executable, join(alone, "clatter"));
    const r = spawnSync(join(alone, "clatter"), args, { cwd: this.folder, encoding: "utf8" });
    return { code: r.status, out: r.stdout, err: r.stderr };
  }

  // The result of one of the project's models; made once.
  result(model) {
    const path = join(this.folder, `${model.split("/").pop()}.h5`);
    if (!existsSync(path)) {
      const r = this.call("run", "-q", join(root, "models", `${model}.yaml`), "-o", path);
      if (r.code !== 0) throw new Error(`${model}: ${r.err}`);
    }
    return path;
  }
  // The result of a model written here.
  own(name, yaml, ...options) {
    const model = join(this.folder, `${name}.yaml`);
    const path = join(this.folder, `${name}.h5`);
    writeFileSync(model, yaml);
    const r = this.call("run", "-q", model, "-o", path, ...options);
    if (r.code !== 0) throw new Error(`${name}: ${r.err}`);
    return path;
  }
  skin(cells) {
    const path = join(this.folder, `skin${cells}.h5`);
    const r = spawnSync(join(dirname(executable), "surface_result"), [path, String(cells)], { encoding: "utf8" });
    if (r.status !== 0) throw new Error(`surface_result: ${r.stderr ?? r.error}`);
    return path;
  }

  // Columns of a result by name, as the program exports them.
  table(result, ...quantities) {
    const r = this.call("export", result, "--csv", "-", ...(quantities.length ? ["--channels", ...quantities] : []));
    if (r.code !== 0) throw new Error(r.err);
    const [head, ...rows] = r.out.trim().split("\n");
    const names = head.split(",").map((n) => n.replaceAll('"', "").replace(/ \[.*\]$/, ""));
    const numbers = rows.map((row) => row.split(",").map(Number));
    return Object.fromEntries(names.map((n, i) => [n.replace(/^(bodies|frames|joints|forces)\//, "").replaceAll("/", "."), numbers.map((row) => row[i])]));
  }

  start(args, env = {}) {
    const child = spawn(executable, args, { cwd: this.folder, env: { ...process.env, ...env } });
    this.#children.add(child);
    child.text = "";
    child.stdout.on("data", (d) => (child.text += d));
    child.stderr.on("data", (d) => (child.text += d));
    child.ended = new Promise((ok) => child.on("exit", (code, signal) => ok({ code, signal })));
    return child;
  }
  // Serves a result; the address of its page.
  async view(result, ...options) {
    const child = this.start(["view", "--no-browser", result, ...options]);
    for (let i = 0; i < 200; ++i) {
      const found = /http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//.exec(child.text);
      if (found) return found[0];
      if (child.exitCode !== null) break;
      await new Promise((ok) => setTimeout(ok, 25));
    }
    throw new Error(`clatter view gave no address: ${child.text}`);
  }
  async stopAll() {
    for (const child of this.#children) {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGINT");
      await child.ended;
    }
    this.#children.clear();
  }
}
