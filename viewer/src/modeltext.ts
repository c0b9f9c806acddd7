// The model's text as it ran, with its checks at the lines they stand in.
import { format, h } from "./dom";
import type { Checks, Meta } from "./types";

export class ModelText {
  readonly element: HTMLElement;
  private code = h("div", { class: "code", tabindex: 0, role: "region", "aria-label": "Model text" });
  private list = h("div", { class: "checks" });
  private choice: HTMLSelectElement;
  private file = 0;
  private checks: Checks = {};

  constructor(
    private meta: Meta,
    private pick: (quantity: string) => void,
  ) {
    this.choice = h("select", { "aria-label": "File", onchange: () => this.open(Number(this.choice.value)) });
    meta.files.forEach((f, i) => this.choice.append(h("option", { value: i }, f.path)));
    this.element = h("div", { class: "model" }, this.list, h("div", { class: "filebar" }, this.choice), this.code);
    this.open(0);
  }

  setChecks(checks: Checks) {
    this.checks = checks;
    const rows = checks.checks ?? [];
    const good = rows.filter((r) => r.ok).length;
    this.list.replaceChildren();
    for (const e of checks.errors ?? [])
      this.list.append(h("p", { class: "bad" }, `${e.file}:${e.line}:${e.column}: ${e.message}${e.hint ? ` (${e.hint})` : ""}`));
    if (rows.length) {
      const table = h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ...["", "quantity", "computed", "published", "difference", "tolerance"].map((t) => h("th", { scope: "col" }, t)))),
        h(
          "tbody",
          {},
          ...rows.map((r) =>
            h(
              "tr",
              {
                class: r.ok ? "ok" : "bad",
                title: `${r.from}${r.reason ? ` — ${r.reason}` : ""}`,
              },
              h("td", { class: "verdict" }, r.ok ? "✓" : r.computed === undefined ? "?" : "✗", h("span", { class: "sr" }, r.ok ? " holds" : " does not hold")),
              h("td", {}, h("button", { type: "button", class: "link", onclick: () => this.show(r.file, r.line, r.name) }, r.quantity)),
              h("td", { class: "num" }, r.computed === undefined ? (r.reason ?? "–") : format(r.computed, 7)),
              h("td", { class: "num" }, format(r.value, 7)),
              h("td", { class: "num" }, r.difference === undefined ? "" : format(r.difference, 2)),
              h("td", { class: "num" }, format(r.tolerance, 2)),
            ),
          ),
        ),
      );
      this.list.append(
        h("p", { class: good === rows.length ? "good" : "bad" }, `${good} of ${rows.length} checks hold`),
        h("div", { class: "tablebox" }, table),
      );
    } else if (!checks.errors) this.list.append(h("p", { class: "muted" }, "This model has no checks."));
    this.open(this.file);
  }

  private show(file: string, line: number, quantity: string) {
    const index = this.meta.files.findIndex((f) => f.path === file);
    if (index >= 0) {
      this.open(index);
      const row = this.code.querySelector(`[data-line="${line}"]`);
      row?.scrollIntoView({ block: "center" });
      row?.classList.add("flash");
    }
    this.pick(quantity);
  }

  private open(index: number) {
    const file = this.meta.files[index];
    if (!file) return;
    this.file = index;
    this.choice.value = String(index);
    const marks = new Map<number, { good: boolean; text: string }>();
    for (const c of this.checks.checks ?? [])
      if (c.file === file.path) {
        const before = marks.get(c.line);
        const text = `${c.ok ? "✓" : "✗"} ${format(c.computed, 8)}`;
        marks.set(c.line, { good: (before?.good ?? true) && !!c.ok, text: before ? `${before.text}, ${text}` : text });
      }
    const lines = file.text.replace(/\n$/, "").split("\n");
    this.code.replaceChildren(
      ...lines.map((line, i) => {
        const mark = marks.get(i + 1);
        return h(
          "div",
          { class: `line${mark ? (mark.good ? " ok" : " bad") : ""}`, "data-line": i + 1 },
          h("span", { class: "no", "aria-hidden": "true" }, String(i + 1)),
          h("span", { class: "src" }, ...highlight(line)),
          mark ? h("span", { class: "mark" }, mark.text) : null,
        );
      }),
    );
  }
}

// Comments, keys and numbers of YAML; anything else stays as it is.
function highlight(line: string): (Node | string)[] {
  const out: (Node | string)[] = [];
  const pattern = /("(?:[^"\\]|\\.)*"|'[^']*')|((?:^|\s)#.*$)|([A-Za-z_][\w.*-]*)(?=\s*:(?:\s|$))|(-?\b\d+(?:\.\d*)?(?:e[+-]?\d+)?\b)/gi;
  let at = 0;
  for (const m of line.matchAll(pattern)) {
    if (m.index > at) out.push(line.slice(at, m.index));
    const kind = m[1] ? "str" : m[2] ? "com" : m[3] ? "key" : "num";
    out.push(h("span", { class: kind }, m[0]));
    at = m.index + m[0].length;
  }
  if (at < line.length || !out.length) out.push(line.slice(at) || " ");
  return out;
}
