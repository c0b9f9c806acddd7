// A result's page: builds the panels, takes in what a run writes, and runs the clock.
import { remember, restore, suggestions } from "./address";
import { ContactTimeline } from "./contacts";
import { TimeRange } from "./chart";
import { dragDivider } from "./divider";
import { button, format, h, icon } from "./dom";
import { Energy } from "./energy";
import { EventList } from "./events";
import { buildHelp, listenToKeys } from "./keys";
import { bodyColor, setTheme, stateColors } from "./looks";
import { ModelText } from "./modeltext";
import { FrameChannels, Motion } from "./motion";
import { Player } from "./player";
import { Plots } from "./plots";
import { Quantities } from "./quantities";
import { ShapeView } from "./shapes";
import { quantityList, RunPanel, tabs } from "./side";
import type { Source } from "./source";
import { Stage } from "./stage";
import { StressView } from "./stress";
import { Timeline } from "./timeline";
import { buildCorner, buildToolbar } from "./toolbar";
import { bodyTrail } from "./trail";
import { Transport } from "./transport";
import type { EventRow, Meta, Scene } from "./types";
import type { ViewName } from "./viewpoint";

const kLookEvery = 700; // milliseconds between looks at a run that goes on
const kMostLabels = 40;
const kTrailsByThemselves = 6;

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

export class Page {
  // What a frame costs the script itself, milliseconds: the last frames, for measurements.
  readonly costs: number[] = [];
  readonly player = new Player();
  readonly scene: Scene;
  private quantities: Quantities;
  private timeline: Timeline;
  private motion: Motion;
  stage: Stage | null = null;
  private range = new TimeRange();
  readonly stress: StressView;
  readonly shapes: ShapeView;
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
  readonly followBox: HTMLSelectElement;
  readonly mostLabels = kMostLabels;
  showLabels = false;
  private lastFrame = 0;
  readonly help = buildHelp();

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
    const [wished, restored] = restore();
    for (const names of wished.length ? wished : suggestions(this.meta, this.scene, this.quantities)) this.plots.addPlot(names);
    this.plots.onchange = () => this.remember();
    this.player.listen((what) => {
      if (what === "time") this.showMoment();
      else this.remember();
    });
    this.player.goto(restored ?? progress.first);
    listenToKeys(this);
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
      this.look();
      this.scaleNote.textContent = `grid ${format(this.stage.gridCell, 2)} m`;
    }
    this.showMoment();
  }

  private async loadTrail(body: number) {
    if (!this.stage) return;
    const trail = await bodyTrail(this.source, this.quantities, this.timeline.rows, this.scene.bodies[body]);
    if (!trail) return;
    this.stage.setTrail(body, trail.t, trail.x);
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
    const corner = buildCorner(this.motion.frame.contacts.length > 0, this.scaleNote, this.stress.any ? this.stress.element : null);
    this.viewHost.append(this.labels, buildToolbar(this), corner, this.card);
    const divider = h("div", { class: "divider", role: "separator", "aria-orientation": "horizontal", "aria-label": "Height of the picture", tabindex: 0 });
    const left = h("div", { class: "left" }, this.viewHost, this.transport.element, divider, lower.element);
    dragDivider(divider, left);
    document.getElementById("app")!.replaceChildren(header, this.banner, h("main", {}, left, side.element), this.help);
  }

  showStress(on: boolean) {
    this.stress.on = on;
    const { samples, first, last } = this.meta.progress;
    if (on) this.stress.grow(samples, first, last).then(() => this.showMoment(), (e) => this.trouble(e));
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

  look(view: ViewName = this.view) {
    this.view = view;
    this.stage?.look(view, this.scene.planar && view === "front");
    this.pressed("Parallel projection (O)", this.stage?.isParallel ?? false);
    this.showMoment();
  }

  private pressed(label: string, on: boolean) {
    document.querySelector(`[aria-label="${label}"]`)?.setAttribute("aria-pressed", String(on));
  }

  select(body: number) {
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

  // The selected body, or the one after the one that is followed.
  followNext() {
    const body = this.stage?.selected ?? -1;
    const next = body >= 0 && this.stage?.follow !== body ? body : (this.stage?.follow ?? -1) + 1;
    this.follow(next >= this.scene.bodies.length ? -1 : next);
  }

  switchTheme() {
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

  jump(rows: number) {
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

  showMoment() {
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

  private remember() {
    remember(this.plots.names(), this.player.time);
  }
}
