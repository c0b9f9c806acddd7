// Keys: what each does, and the page that explains them.
import { button, h } from "./dom";
import type { Player } from "./player";
import type { Stage } from "./stage";
import type { ViewName } from "./viewpoint";

// What the keys act on.
export interface Keyed {
  readonly player: Player;
  readonly stage: Stage | null;
  readonly help: HTMLDialogElement;
  jump(rows: number): void;
  look(view?: ViewName): void; // without one: as before, everything
  followNext(): void;
  select(body: number): void;
  switchTheme(): void;
}

const click = (label: string) => document.querySelector<HTMLButtonElement>(`[aria-label="${label}"]`)?.click();

const kKeys: Record<string, (page: Keyed, shift: boolean) => void> = {
  " ": ({ player }) => player.toggle(),
  ArrowLeft: (page, shift) => page.jump(shift ? -10 : -1),
  ArrowRight: (page, shift) => page.jump(shift ? 10 : 1),
  Home: ({ player }) => player.goto(player.first),
  End: ({ player }) => player.goto(player.last),
  "[": ({ player }) => player.changeSpeed(-1),
  "]": ({ player }) => player.changeSpeed(1),
  l: ({ player }) => player.setLoop(!player.loop),
  "1": (page) => page.look("corner"),
  "2": (page) => page.look("front"),
  "3": (page) => page.look("side"),
  "4": (page) => page.look("top"),
  "0": (page) => page.look(),
  "+": ({ stage }) => stage?.zoom(1.2),
  "-": ({ stage }) => stage?.zoom(1 / 1.2),
  a: ({ stage }) => stage?.turn(-0.1, 0),
  s: ({ stage }) => stage?.turn(0.1, 0),
  o: () => click("Parallel projection (O)"),
  c: () => click("Contact points and forces (C)"),
  t: () => click("Trails (T)"),
  g: () => click("Ground (G)"),
  n: () => click("Names (N)"),
  m: () => click("Stress (M)"),
  f: (page) => page.followNext(),
  d: (page) => page.switchTheme(),
  Escape: (page) => page.select(-1),
  "?": ({ help }) => help.showModal(),
};

export function listenToKeys(page: Keyed) {
  document.addEventListener("keydown", (e) => {
    const target = e.target as HTMLElement;
    if (e.ctrlKey || e.metaKey || e.altKey || page.help.open) return;
    if (target.closest("input[type=text], input[type=search], select, textarea")) return;
    const onButton = target.closest("button, summary, a") !== null;
    if (e.key === " " && onButton && !target.closest(".transport, .toolbar")) return;
    if (!Object.hasOwn(kKeys, e.key)) return;
    kKeys[e.key](page, e.shiftKey);
    e.preventDefault();
  });
}

export function buildHelp(): HTMLDialogElement {
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
