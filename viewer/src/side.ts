// The panel at the side: quantities to choose from, the model's text, how the run went.
import { h, unitText } from "./dom";
import type { Quantities, Quantity } from "./quantities";
import type { Meta, Progress } from "./types";

// Tabs with the keys and roles screen readers expect. Panels are shown when first chosen (`onshow`).
export function tabs(label: string, entries: { name: string; panel: HTMLElement; onshow?: () => void }[], chosen = 0) {
  const id = `tabs-${Math.random().toString(36).slice(2)}`;
  const buttons = entries.map((e, i) =>
    h("button", { type: "button", role: "tab", id: `${id}-${i}`, "aria-controls": `${id}-p${i}`, onclick: () => select(i) }, e.name),
  );
  const panels = entries.map((e, i) => h("div", { role: "tabpanel", id: `${id}-p${i}`, "aria-labelledby": `${id}-${i}`, tabindex: -1 }, e.panel));
  const select = (index: number) => {
    buttons.forEach((b, i) => {
      b.setAttribute("aria-selected", String(i === index));
      b.tabIndex = i === index ? 0 : -1;
      panels[i].hidden = i !== index;
    });
    entries[index].onshow?.();
  };
  const bar = h("div", { role: "tablist", "aria-label": label }, ...buttons);
  bar.addEventListener("keydown", (e) => {
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    if (at < 0 || (e.key !== "ArrowRight" && e.key !== "ArrowLeft")) return;
    const to = (at + (e.key === "ArrowRight" ? 1 : buttons.length - 1)) % buttons.length;
    buttons[to].focus();
    select(to);
    e.preventDefault();
    e.stopPropagation();
  });
  select(chosen);
  return { element: h("div", { class: "tabs" }, bar, ...panels), bar, select };
}

const kShownAtOnce = 500;

// All recorded quantities, sorted by what they belong to.
export function quantityList(quantities: Quantities, add: (q: Quantity) => void): HTMLElement {
  const list = h("div", { class: "quantities" });
  const filter = h("input", { type: "search", placeholder: "Filter…", "aria-label": "Filter the quantities", spellcheck: "false" });
  const fill = () => {
    const hits = quantities.search(filter.value, kShownAtOnce);
    const groups = new Map<string, Quantity[]>();
    for (const q of hits) {
      const c = quantities.channels[q.channel];
      const owner = c.name.includes(".") ? c.name.slice(0, c.name.lastIndexOf(".")) : "system";
      groups.set(owner, [...(groups.get(owner) ?? []), q]);
    }
    const open = groups.size <= 3 || filter.value !== "";
    list.replaceChildren(
      ...[...groups].map(([owner, members]) =>
        h(
          "details",
          { open },
          h("summary", {}, owner, h("span", { class: "count" }, String(members.length))),
          h(
            "ul",
            {},
            ...members.map((q) =>
              h(
                "li",
                {},
                h(
                  "button",
                  { type: "button", title: q.description, "aria-label": `Plot ${q.name}`, onclick: () => add(q) },
                  h("span", {}, q.name.replace(`${owner}.`, "")),
                  h("span", { class: "unit" }, unitText(q.unit)),
                ),
              ),
            ),
          ),
        ),
      ),
    );
    if (hits.length >= kShownAtOnce) list.append(h("p", { class: "muted" }, `the first ${kShownAtOnce} are shown; filter to see others`));
    if (!hits.length) list.append(h("p", { class: "muted" }, "nothing recorded by this name"));
  };
  filter.addEventListener("input", fill);
  filter.addEventListener("keydown", (e) => e.stopPropagation());
  fill();
  return h("div", { class: "chooser" }, filter, list);
}

export class RunPanel {
  readonly element = h("div", { class: "run" });
  show(meta: Meta, progress: Progress, stride: number) {
    const row = (name: string, value: string) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value));
    const words: Record<string, string> = {
      running: "running now",
      finished: "finished",
      failed: "failed",
      interrupted: "interrupted",
      killed: "killed while it was running",
    };
    this.element.replaceChildren(
      progress.message ? h("p", { class: progress.state === "failed" ? "bad" : "muted" }, progress.message) : "",
      h(
        "table",
        {},
        row("result", meta.file),
        row("state", words[progress.state] ?? progress.state),
        row("samples", `${progress.samples.toLocaleString("en").replaceAll(",", " ")}${stride > 1 ? ` (every ${stride}. of the result)` : ""}`),
        row("events", progress.events.toLocaleString("en").replaceAll(",", " ")),
        row("started", meta.started.replace("T", " ").replace("Z", " UTC")),
        row("Clatter", meta.program),
        ...meta.settings.map(([k, v]) => row(k, v)),
      ),
      progress.summary ? h("pre", { tabindex: 0, "aria-label": "Summary of the run" }, progress.summary) : "",
    );
  }
}
