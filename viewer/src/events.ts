// The list of events: what happened and when; a click goes there.
import { format, h } from "./dom";
import type { Player } from "./player";
import type { EventRow } from "./types";

const kShown = 1000;

export class EventList {
  readonly element = h("div", { class: "events" });
  constructor(private player: Player) {}

  show(events: EventRow[], total: number) {
    if (!events.length) {
      this.element.replaceChildren(h("p", { class: "empty" }, "Nothing happened: no events are recorded."));
      return;
    }
    const rows = events.slice(0, kShown).map(([t, kind, element, text]) =>
      h(
        "tr",
        {},
        h("td", { class: "num" }, h("button", { type: "button", class: "link", onclick: () => this.player.goto(t) }, format(t, 8))),
        h("td", {}, kind),
        h("td", {}, element),
        h("td", {}, text),
      ),
    );
    this.element.replaceChildren(
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ...["time, s", "event", "element", ""].map((x) => h("th", { scope: "col" }, x)))),
        h("tbody", {}, ...rows),
      ),
      total > kShown ? h("p", { class: "muted" }, `and ${total - kShown} more (clatter info lists the first, the result holds all)`) : "",
    );
  }
}
