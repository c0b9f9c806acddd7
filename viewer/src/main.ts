// The page: loads what a result tells about itself, builds the panels, and runs the clock.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { ContactTimeline } from "./contacts";
import { TimeRange } from "./chart";
import { button, format, h, icon } from "./dom";
import { Energy } from "./energy";
import { EventList } from "./events";
import { bodyColor, stateColors } from "./looks";
import { ModelText } from "./modeltext";
import { FrameChannels, Motion } from "./motion";
import { Player } from "./player";
import { Plots } from "./plots";
import { Quantities } from "./quantities";
import { ShapeView } from "./shapes";
import { quantityList, RunPanel, tabs } from "./side";
import { openSource, type Source } from "./source";
import { Stage, type ViewName } from "./stage";
import { StressView } from "./stress";
import { Timeline } from "./timeline";
import { Transport } from "./transport";
import type { EventRow, Meta, Scene } from "./types";

const kLookEvery = 700; // milliseconds between looks at a run that goes on
const kMostLabels = 40;
const kTrailPoints = 4000;
const kTrailsByThemselves = 6;

declare global {
  interface Window {
    clatter?: unknown;
  }
}

function setTheme(theme: string | null) {
  const dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

function fail(title: string, error: unknown) {
  const text = error instanceof Error ? error.message : String(error);
  document.getElementById("app")!.replaceChildren(
    h("main", { class: "failure", role: "alert" }, h("h1", {}, title), h("p", {}, text), button("Try again", "Try again", () => location.reload(), { class: "primary" })),
  );
}

// Results without a scene still have poses: every body becomes a mark.
function sceneFromChannels(meta: Meta): Scene {
  const names = meta.channels.filter((c) => c.name.endsWith(".position") && c.width === 3).map((c) => c.name.slice(0, -".position".length));
  return {
    version: 1,
    title: "",
    planar: false,
    gravity: [0, 0, 0],
    bodies: names.map((name) => ({ name, kind: "rigid", mass: 0, center: [0, 0, 0], shapes: [], anchors: [] })),
    ground: { shapes: [], anchors: [] },
    joints: [],
    forces: [],
    contacts: [],
    surfaces: [],
  };
}

async function start() {
  setTheme(localStorageGet("clatter-theme"));
  const source = openSource();
  let meta: Meta;
  try {
    meta = await source.meta();
  } catch (error) {
    fail("This result cannot be shown", error);
    return;
  }
  document.title = `${meta.scene?.title || meta.model || meta.file} · Clatter`;
  try {
    const page = new Page(source, meta);
    await page.open();
    window.clatter = page;
  } catch (error) {
    console.error(error);
    fail("This result cannot be shown", error);
  }
}

function localStorageGet(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // a file opened from disk may have none
  }
}

class Page {
  // What a frame costs the script itself, milliseconds: the last frames, for measurements.
  readonly costs: number[] = [];
  readonly player = new Player();
  private scene: Scene;
  private quantities: Quantities;
  private timeline: Timeline;
  private motion: Motion;
  private stage: Stage | null = null;
  private range = new TimeRange();
  private stress: StressView;
  private shapes: ShapeView;
  private plots: Plots;
  private energy: Energy;
  private contacts: ContactTimeline;
  private eventList: EventList;
  private model: ModelText;
  private run = new RunPanel();
  private transport: Transport;
  private events: EventRow[] = [];
  private status = h("span", { class: "status", role: "status", "aria-live": "polite" });
  private banner = h("div", { class: "banner", role: "alert", hidden: true });
  private viewHost = h("div", { class: "view" });
  private labels = h("div", { class: "labels", "aria-hidden": "true" });
  private card = h("div", { class: "card", hidden: true, "aria-live": "polite" });
  private scaleNote = h("span", { class: "scale" });
  private followBox: HTMLSelectElement;
  private showLabels = false;
  private lastFrame = 0;
  private help: HTMLDialogElement;

  constructor(
    private source: Source,
    private meta: Meta,
  ) {
    this.scene = meta.scene ?? sceneFromChannels(meta);
    this.quantities = new Quantities(meta.channels);
    const frame = new FrameChannels(this.quantities, this.scene);
    this.timeline = new Timeline(source, frame.channels, frame.widths);
    this.motion = new Motion(frame, this.timeline);
    this.stress = new StressView(source, this.quantities, this.scene);
    this.shapes = new ShapeView(this.scene);
    this.stress.timeline.onload = () => this.showMoment();
    this.plots = new Plots(this.player, this.range, source, this.quantities);
    this.energy = new Energy(this.player, this.range, source, this.quantities, meta.ledger);
    this.contacts = new ContactTimeline(this.player, this.range, source, this.quantities, this.scene.contacts.map((c) => c.name));
    this.eventList = new EventList(this.player);
    this.model = new ModelText(meta, (name) => {
      const q = this.quantities.find(name);
      if (q) this.plots.add(q);
    });
    this.transport = new Transport(this.player, () => this.step(), (rows) => this.jump(rows));
    this.followBox = h("select", { "aria-label": "Follow a body", title: "Follow a body (F)", onchange: () => this.follow(Number(this.followBox.value)) });
    this.followBox.append(h("option", { value: -1 }, "follow nothing"));
    this.scene.bodies.forEach((b, i) => this.followBox.append(h("option", { value: i }, `follow ${b.name}`)));
    this.help = this.buildHelp();
    this.timeline.onerror = this.stress.timeline.onerror = this.plots.onerror = (e) => this.trouble(e);
    this.timeline.onload = () => this.showMoment();
  }

  async open() {
    const { progress } = this.meta;
    await this.timeline.grow(progress.samples, progress.first, progress.last);
    this.layout();
    this.player.first = progress.first;
    this.player.last = progress.last;
    this.player.time = progress.first;
    this.player.naturalSpeed();
    this.range.reset(progress.first, progress.last);
    this.openStage();
    this.showProgress();
    this.player.setRange(progress.first, progress.last);
    const [wished, restored] = this.restore();
    for (const names of wished.length ? wished : this.suggestions()) this.plots.addPlot(names);
    this.plots.onchange = () => this.remember();
    this.player.listen((what) => {
      if (what === "time") this.showMoment();
      else this.remember();
    });
    this.player.goto(restored ?? progress.first);
    this.keys();
    requestAnimationFrame((now) => this.frame(now));
    void this.loadRest();
    if (this.source.live && progress.state === "running") this.watch();
    else if (this.source.live) this.watchReplacement();
  }

  private async loadRest() {
    try {
      await this.takeEvents();
      await this.energy.load(this.meta.progress.ledger);
      await this.contacts.load(this.meta.progress.samples, this.events);
      await this.loadSkins();
      if (this.scene.bodies.length <= kTrailsByThemselves) for (let b = 0; b < this.scene.bodies.length; ++b) await this.loadTrail(b);
      this.model.setChecks(await this.source.checks());
    } catch (error) {
      this.trouble(error);
    }
  }

  private async takeEvents() {
    const more = await this.source.events(this.events.length);
    if (more.length) this.events = [...this.events, ...more];
    this.range.events = this.events;
    this.transport.setEvents(this.events);
    this.eventList.show(this.events, this.meta.progress.events);
    this.plots.refresh();
  }

  private async loadSkins() {
    if (!this.stage) return;
    for (let i = 0; i < this.meta.surfaces.length; ++i) {
      const use = this.scene.surfaces[i];
      if (!use) continue;
      const [vertices, triangles, modes] = await Promise.all([
        this.source.surface(i, "vertices"),
        this.source.surface(i, "triangles"),
        this.source.surface(i, "modes"),
      ]);
      const data = { vertices: new Float32Array(vertices), triangles: new Uint32Array(triangles), modes: new Float32Array(modes) };
      this.stage.addSkin(data, use.body, bodyColor(use.body), use.large);
    }
    document.getElementById("exaggerate")?.toggleAttribute("hidden", !this.stage.deforms);
    if (this.meta.surfaces.length) {
      this.shapes.attach(this.stage);
      this.stage.refit();
      this.look(this.view);
      this.scaleNote.textContent = `grid ${format(this.stage.gridCell, 2)} m`;
    }
    this.showMoment();
  }

  // The path of a body's mass centre.
  private async loadTrail(body: number) {
    const { name, center } = this.scene.bodies[body];
    const position = this.quantities.channel(`${name}.position`);
    const orientation = this.quantities.channel(`${name}.orientation`);
    if (!this.stage || position < 0) return;
    const off = Math.hypot(...center) > 0 && orientation >= 0;
    const stride = Math.max(1, Math.ceil(this.timeline.rows / kTrailPoints));
    const rows = await this.source.rows("samples", off ? [position, orientation] : [position], 0, kTrailPoints + 1, stride);
    const x = new Float32Array(3 * rows.t.length);
    for (let i = 0; i < rows.t.length; ++i) {
      for (let k = 0; k < 3; ++k) x[3 * i + k] = rows.columns[0][3 * i + k];
      if (!off) continue;
      const [w, a, b, c] = rows.columns[1].subarray(4 * i, 4 * i + 4);
      const [u, v, n] = center;
      const tx = 2 * (b * n - c * v);
      const ty = 2 * (c * u - a * n);
      const tz = 2 * (a * v - b * u);
      x[3 * i] += u + w * tx + b * tz - c * ty;
      x[3 * i + 1] += v + w * ty + c * tx - a * tz;
      x[3 * i + 2] += n + w * tz + a * ty - b * tx;
    }
    this.stage.setTrail(body, rows.t, x);
    this.stage.update(this.player.time);
  }

  // --- the page -------------------------------------------------------------------------------------------------------

  private layout() {
    const title = this.scene.title || this.meta.model;
    const header = h(
      "header",
      { class: "top" },
      h("h1", {}, title),
      h("span", { class: "file" }, this.meta.file),
      this.status,
      h("span", { class: "grow" }),
      button("Dark or light (D)", icon("theme"), () => this.switchTheme(), { class: "quiet" }),
      button("Keys (?)", "?", () => this.help.showModal(), { class: "quiet" }),
    );
    const lower = tabs("Charts", [
      { name: "Plots", panel: this.plots.element },
      { name: "Energy", panel: this.energy.element },
      ...(this.contacts.any ? [{ name: "Contacts", panel: this.contacts.element, onshow: () => this.contacts.draw() }] : []),
      { name: "Events", panel: this.eventList.element },
    ]);
    lower.element.classList.add("lower");
    const reset = h("button", { type: "button", class: "quiet zoomed", onclick: () => this.range.reset(this.player.first, this.player.last), hidden: true }, "Show all of the time");
    this.range.listen(() => (reset.hidden = this.range.whole));
    lower.bar.append(h("span", { class: "grow" }), reset);
    const side = tabs("About the result", [
      { name: "Quantities", panel: quantityList(this.quantities, (q) => this.plots.add(q)) },
      { name: "Model", panel: this.model.element },
      { name: "Run", panel: this.run.element },
    ]);
    side.element.classList.add("side");
    this.viewHost.append(this.labels, this.toolbar(), this.stateKey(), this.card);
    const divider = h("div", { class: "divider", role: "separator", "aria-orientation": "horizontal", "aria-label": "Height of the picture", tabindex: 0 });
    const left = h("div", { class: "left" }, this.viewHost, this.transport.element, divider, lower.element);
    dragDivider(divider, left);
    document.getElementById("app")!.replaceChildren(header, this.banner, h("main", {}, left, side.element), this.help);
  }

  private toolbar(): HTMLElement {
    const views: [ViewName, string][] = [
      ["corner", "3D"],
      ["front", "Front"],
      ["side", "Side"],
      ["top", "Top"],
    ];
    const look = (view: ViewName) => this.look(view);
    const toggle = (label: string, text: string, get: () => boolean, set: (on: boolean) => void) => {
      const b = button(label, text, () => {
        set(!get());
        b.setAttribute("aria-pressed", String(get()));
        this.showMoment();
      });
      b.className = "toggle";
      b.setAttribute("aria-pressed", String(get()));
      return b;
    };
    const show = (name: "contacts" | "trails" | "ground", label: string, text: string) =>
      toggle(label, text, () => this.stage?.show[name] ?? true, (on) => this.stage && (this.stage.show[name] = on));
    const factor = h("input", { type: "range", min: 0, max: 3, step: 0.05, value: 0, "aria-label": "Exaggerate deformation" });
    const factorText = h("output", {}, "× 1");
    factor.addEventListener("input", () => {
      const value = 10 ** Number(factor.value);
      factorText.textContent = `× ${format(value, 2)}`;
      this.stage?.exaggerate(value);
      this.showMoment();
    });
    const bar = h(
      "div",
      { class: "toolbar", role: "toolbar", "aria-label": "View" },
      h("span", { class: "group" }, ...views.map(([view, text], i) => button(`View: ${text} (${(i + 1) % 5})`, text, () => look(view)))),
      h("span", { class: "group" }, button("Show everything (0)", icon("home"), () => this.look(this.view))),
      h(
        "span",
        { class: "group" },
        toggle("Parallel projection (O)", "Parallel", () => this.stage?.isParallel ?? this.scene.planar, (on) => this.stage?.setParallel(on)),
        this.scene.contacts.length ? show("contacts", "Contact points and forces (C)", "Contacts") : null,
        show("trails", "Trails (T)", "Trails"),
        show("ground", "Ground (G)", "Ground"),
        this.scene.bodies.length <= kMostLabels
          ? toggle("Names (N)", "Names", () => this.showLabels, (on) => (this.showLabels = on))
          : null,
        this.stress.any ? toggle("Stress (M)", "Stress", () => this.stress.on, (on) => this.showStress(on)) : null,
      ),
      h("span", { class: "group" }, this.followBox),
      h("span", { class: "group", id: "exaggerate", hidden: true }, h("label", {}, "Deformation ", factor), factorText),
      this.shapes.element,
    );
    return bar;
  }

  private showStress(on: boolean) {
    this.stress.on = on;
    const { samples, first, last } = this.meta.progress;
    if (on) this.stress.grow(samples, first, last).then(() => this.showMoment(), (e) => this.trouble(e));
  }

  private stateKey(): HTMLElement {
    const colors = stateColors();
    const key = h("ul", { class: "legend inview" });
    if (this.motion.frame.contacts.length)
      for (const [name, text] of [["stick", "sticking"], ["slide", "sliding"], ["open", "open"]] as const)
        key.append(h("li", {}, h("span", { class: `state ${name}`, style: `--c:${colors[name]}` }), text));
    return h("div", { class: "corner" }, key.childElementCount ? key : null, this.scaleNote, this.stress.any ? this.stress.element : null);
  }

  private openStage() {
    try {
      this.stage = new Stage(this.viewHost, this.scene, this.motion);
    } catch (error) {
      console.warn(error);
      this.viewHost.prepend(h("p", { class: "nogl" }, "This browser offers no WebGL 2, so the motion cannot be drawn. Plots, energy and contacts work."));
      return;
    }
    const stage = this.stage;
    this.view = this.scene.planar ? "front" : "corner";
    stage.canvas.setAttribute("aria-label", `Animation of ${this.scene.bodies.length} bodies. Space plays, arrow keys step, 1 to 4 choose views.`);
    stage.onpick = (body) => this.select(body === stage.selected ? -1 : body);
    stage.onmove = () => this.placeLabels();
    for (const [i, b] of this.scene.bodies.slice(0, kMostLabels).entries()) this.labels.append(h("span", { "data-body": i }, b.name));
    this.scaleNote.textContent = `grid ${format(stage.gridCell, 2)} m`;
  }
  private view: ViewName = "corner";

  private look(view: ViewName) {
    this.view = view;
    this.stage?.look(view, this.scene.planar && view === "front");
    this.pressed("Parallel projection (O)", this.stage?.isParallel ?? false);
    this.showMoment();
  }

  private pressed(label: string, on: boolean) {
    document.querySelector(`[aria-label="${label}"]`)?.setAttribute("aria-pressed", String(on));
  }

  private select(body: number) {
    this.stage?.select(body);
    if (body >= 0 && this.scene.bodies.length > kTrailsByThemselves) this.loadTrail(body).catch((e) => this.trouble(e));
    this.showCard();
    this.stage?.draw();
  }

  private showCard() {
    const body = this.stage?.selected ?? -1;
    this.card.hidden = body < 0;
    if (body < 0) return;
    const { name, mass } = this.scene.bodies[body];
    const p = this.motion.poses.subarray(7 * body, 7 * body + 3);
    this.card.replaceChildren(
      h("strong", {}, name),
      mass > 0 ? h("span", {}, `${format(mass, 4)} kg`) : "",
      h("span", { class: "num" }, `${format(p[0], 4)}, ${format(p[1], 4)}, ${format(p[2], 4)} m`),
      button("Follow it", this.stage?.follow === body ? "Stop following" : "Follow", () => this.follow(this.stage?.follow === body ? -1 : body)),
      button("Deselect", icon("close"), () => this.select(-1), { class: "tiny" }),
    );
  }

  private follow(body: number) {
    this.stage?.setFollow(body);
    this.followBox.value = String(body);
    this.showMoment();
  }

  private switchTheme() {
    const dark = document.documentElement.dataset.theme !== "dark";
    setTheme(dark ? "dark" : "light");
    try {
      localStorage.setItem("clatter-theme", dark ? "dark" : "light");
    } catch {
      // kept for this visit only
    }
    this.stage?.theme();
    this.plots.redraw();
    this.energy.draw();
    this.contacts.draw();
    const colors = stateColors();
    for (const [name, color] of Object.entries(colors))
      for (const e of document.querySelectorAll<HTMLElement>(`.state.${name}`)) e.style.setProperty("--c", color);
    this.showMoment();
  }

  // --- time -----------------------------------------------------------------------------------------------------------

  // A sample's distance, on the average.
  private step(): number {
    const { rows, first, last } = this.timeline;
    return rows > 1 ? (last - first) / (rows - 1) : 1;
  }

  private jump(rows: number) {
    this.player.toggle(false);
    this.player.followEnd = false;
    const row = this.timeline.row(this.player.time + 1e-9 * this.step());
    const to = Math.max(0, Math.min(this.timeline.rows - 1, row + rows));
    this.player.goto(this.timeline.time(to));
  }

  private frame(now: number) {
    requestAnimationFrame((next) => this.frame(next));
    const dt = Math.min(0.1, (now - this.lastFrame) / 1000);
    this.lastFrame = now;
    if (this.player.playing) this.player.advance(dt);
    this.stage?.draw();
  }

  private showMoment() {
    const began = performance.now();
    const { player } = this;
    const perFrame = (player.playing ? player.speed / 60 : 0) / Math.max(this.step(), 1e-12);
    if (this.stage && this.stress.any) this.stress.show(this.stage, player.time, perFrame, player.playing ? 1 : 0);
    if (this.motion.goto(player.time, perFrame, player.playing ? 1 : 0)) this.stage?.update(player.time);
    if (this.showLabels || this.labels.classList.contains("on")) this.placeLabels();
    if (!this.card.hidden && !player.playing) this.showCard();
    this.costs.push(performance.now() - began);
    if (this.costs.length > 600) this.costs.splice(0, 300);
  }

  private placeLabels() {
    this.labels.classList.toggle("on", this.showLabels);
    if (!this.showLabels || !this.stage) return;
    for (const label of this.labels.children as HTMLCollectionOf<HTMLElement>) {
      const at = this.stage.project(Number(label.dataset.body));
      label.style.visibility = at ? "visible" : "hidden";
      if (at) label.style.transform = `translate(${at.x.toFixed(1)}px, ${at.y.toFixed(1)}px)`;
    }
  }

  // --- a run that goes on ---------------------------------------------------------------------------------------------

  private watch() {
    this.player.followEnd = true;
    const look = async () => {
      try {
        const progress = await this.source.progress();
        if (progress.generation !== this.meta.generation) return location.reload();
        const ended = progress.state !== "running";
        this.meta.progress = progress;
        const more = await this.timeline.grow(progress.samples, progress.first, progress.last);
        await this.stress.grow(progress.samples, progress.first, progress.last);
        if (more || ended) {
          if (this.range.whole) this.range.reset(progress.first, progress.last);
          this.player.setRange(progress.first, progress.last);
          await this.takeEvents();
          await this.energy.load(progress.ledger);
          await this.contacts.load(progress.samples, this.events);
          if (this.scene.bodies.length <= kTrailsByThemselves)
            for (let b = 0; b < this.scene.bodies.length; ++b) await this.loadTrail(b);
        }
        this.banner.hidden = true;
        this.showProgress();
        if (ended) {
          this.model.setChecks(await this.source.checks());
          this.watchReplacement();
          return;
        }
      } catch (error) {
        this.trouble(error);
      }
      setTimeout(look, kLookEvery);
    };
    setTimeout(look, kLookEvery);
  }

  // A finished result may be written anew by another run.
  private watchReplacement() {
    const look = async () => {
      try {
        const progress = await this.source.progress();
        if (progress.generation !== this.meta.generation) return location.reload();
        if (progress.state === "running") return this.watch();
        this.banner.hidden = true;
      } catch (error) {
        this.trouble(error);
      }
      setTimeout(look, document.hidden ? 20000 : 4000);
    };
    setTimeout(look, 4000);
  }

  private showProgress() {
    const { progress } = this.meta;
    const words = { running: "running", finished: "finished", failed: "failed", interrupted: "interrupted", killed: "killed" }[progress.state];
    const end = Number(this.meta.settings.find(([k]) => k === "end")?.[1]);
    const part = progress.state === "running" && end > 0 ? ` · ${format(progress.last, 3)} of ${format(end, 3)} s` : "";
    const text = `${words}${part}`;
    if (this.status.textContent !== text) this.status.textContent = text;
    this.status.dataset.state = progress.state;
    this.run.show(this.meta, progress, this.source.stride);
    if (progress.state === "failed") {
      this.banner.hidden = false;
      this.banner.textContent = `The run failed: ${progress.message}`;
    }
    if (progress.samples === 0) {
      this.banner.hidden = false;
      this.banner.textContent = "Nothing is recorded yet.";
    }
  }

  private trouble(error: unknown) {
    this.banner.hidden = false;
    this.banner.textContent = error instanceof Error ? error.message : String(error);
  }

  // --- what to show first, and again ----------------------------------------------------------------------------------

  // What the model's author checks, or where bodies are, or energies.
  private suggestions(): string[][] {
    const names: string[] = [];
    const text = this.meta.files.map((f) => f.text).join("\n");
    for (const m of text.matchAll(/quantity:\s*["']?([\w.[\]-]+)/g)) {
      if (!names.includes(m[1]) && this.quantities.find(m[1]) && !m[1].startsWith("energy.")) names.push(m[1]);
    }
    const unit = names.length ? this.quantities.find(names[0])!.unit : "";
    const first = names.filter((n) => this.quantities.find(n)!.unit === unit).slice(0, 3);
    const second = names.filter((n) => this.quantities.find(n)!.unit !== unit).slice(0, 1);
    if (first.length) return [[...first, ...second]];
    const body = this.scene.bodies[0]?.name;
    const place = ["x", "y", "z"].map((k) => `${body}.position.${k}`).filter((n) => this.quantities.find(n));
    if (place.length) return [place];
    return [["energy.kinetic", "energy.potential", "energy.total"].filter((n) => this.quantities.find(n))];
  }

  private remember() {
    const plots = this.plots.names().map((names) => names.map(encodeURIComponent).join("+")).join(",");
    const state = `q=${plots}&t=${format(this.player.time, 9).replace("−", "-")}`;
    try {
      history.replaceState(null, "", `#${state}`);
    } catch {
      // a page without an address of its own
    }
  }
  private restore(): [string[][], number | null] {
    const state = new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B"));
    const plots = (state.get("q") ?? "")
      .split(",")
      .filter(Boolean)
      .map((plot) => plot.split("+").map(decodeURIComponent));
    const t = state.get("t");
    return [plots, t === null || !Number.isFinite(Number(t)) ? null : Number(t)];
  }

  // --- keys -----------------------------------------------------------------------------------------------------------

  private keys() {
    const click = (label: string) => document.querySelector<HTMLButtonElement>(`[aria-label="${label}"]`)?.click();
    document.addEventListener("keydown", (e) => {
      const target = e.target as HTMLElement;
      if (e.ctrlKey || e.metaKey || e.altKey || this.help.open) return;
      if (target.closest("input[type=text], input[type=search], select, textarea")) return;
      const onButton = target.closest("button, summary, a") !== null;
      const { player } = this;
      switch (e.key) {
        case " ":
          if (onButton && !target.closest(".transport, .toolbar")) return;
          player.toggle();
          break;
        case "ArrowLeft":
          this.jump(e.shiftKey ? -10 : -1);
          break;
        case "ArrowRight":
          this.jump(e.shiftKey ? 10 : 1);
          break;
        case "Home":
          player.goto(player.first);
          break;
        case "End":
          player.goto(player.last);
          break;
        case "[":
          player.changeSpeed(-1);
          break;
        case "]":
          player.changeSpeed(1);
          break;
        case "l":
          player.setLoop(!player.loop);
          break;
        case "1":
          this.look("corner");
          break;
        case "2":
          this.look("front");
          break;
        case "3":
          this.look("side");
          break;
        case "4":
          this.look("top");
          break;
        case "0":
          this.look(this.view);
          break;
        case "+":
          this.stage?.zoom(1.2);
          break;
        case "-":
          this.stage?.zoom(1 / 1.2);
          break;
        case "a":
          this.stage?.turn(-0.1, 0);
          break;
        case "s":
          this.stage?.turn(0.1, 0);
          break;
        case "o":
          click("Parallel projection (O)");
          break;
        case "c":
          click("Contact points and forces (C)");
          break;
        case "t":
          click("Trails (T)");
          break;
        case "g":
          click("Ground (G)");
          break;
        case "n":
          click("Names (N)");
          break;
        case "m":
          click("Stress (M)");
          break;
        case "f": {
          const body = this.stage?.selected ?? -1;
          const next = body >= 0 && this.stage?.follow !== body ? body : (this.stage?.follow ?? -1) + 1;
          this.follow(next >= this.scene.bodies.length ? -1 : next);
          break;
        }
        case "d":
          this.switchTheme();
          break;
        case "Escape":
          this.select(-1);
          break;
        case "?":
          this.help.showModal();
          break;
        default:
          return;
      }
      e.preventDefault();
    });
  }

  private buildHelp(): HTMLDialogElement {
    const rows: [string, string][] = [
      ["space", "play, pause"],
      ["← →", "one sample (with shift: ten)"],
      ["Home, End", "start, end"],
      ["[ ]", "slower, faster"],
      ["L", "loop"],
      ["1 2 3 4", "view: 3D, front, side, top"],
      ["0", "show everything"],
      ["+ − · A S", "zoom · turn"],
      ["O", "parallel projection"],
      ["F", "follow the selected body, or the next one"],
      ["C T G N", "contacts, trails, ground, names"],
      ["M", "stress (von Mises), where it is recorded"],
      ["D", "dark or light"],
      ["Esc", "deselect"],
    ];
    const dialog: HTMLDialogElement = h(
      "dialog",
      { class: "help", "aria-label": "Keys" },
      h("h2", {}, "Keys"),
      h("table", {}, ...rows.map(([k, text]) => h("tr", {}, h("th", { scope: "row" }, h("kbd", {}, k)), h("td", {}, text)))),
      h("h2", {}, "Mouse"),
      h("p", {}, "In the picture: drag turns, right drag moves, the wheel zooms, a click selects a body. In charts: a click goes to that moment, dragging chooses a range, a double click shows all, Ctrl and the wheel zoom."),
      button("Close", "Close", () => dialog.close(), { class: "primary" }),
    );
    return dialog;
  }
}

function dragDivider(divider: HTMLElement, left: HTMLElement) {
  const set = (part: number) => left.style.setProperty("--split", `${Math.max(15, Math.min(85, part))}%`);
  divider.addEventListener("pointerdown", (e) => {
    divider.setPointerCapture(e.pointerId);
    const move = (m: PointerEvent) => {
      const box = left.getBoundingClientRect();
      set(((m.clientY - box.top) / box.height) * 100);
    };
    divider.addEventListener("pointermove", move);
    divider.addEventListener("pointerup", () => divider.removeEventListener("pointermove", move), { once: true });
  });
  let part = 55;
  divider.addEventListener("keydown", (e) => {
    if (e.key !== "ArrowUp" && e.key !== "ArrowDown") return;
    part = Math.max(15, Math.min(85, part + (e.key === "ArrowDown" ? 4 : -4)));
    set(part);
    e.preventDefault();
  });
}

void start();
