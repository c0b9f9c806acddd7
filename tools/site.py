#!/usr/bin/env python3
"""The documentation as a site: plain files, built without a network, that open in any browser.

    tools/site.py [--program build/release/clatter] [--gallery build/release/gallery] [--out build/site] [--no-screenshots]

Pages are README.md, docs/*.md and those of docs/concepts, docs/tutorials, docs/rooms and docs/sources. In concepts and tutorials, every `$ clatter ...` line of a ```console block is run
in a folder of the page's own (`models` is there), its output is put below it, and figures it writes become the page's pictures; a line
`<!-- viewer: RESULT.h5 -->` becomes a screenshot of the viewer, where Chromium, its driver (npm) and the viewer's page are there. The gallery is made of what `clatter verify models --gallery DIR` leaves: nothing is computed twice.

Every link and anchor inside the site is checked. Anything wrong is a line on the standard error and exit code 1.
"""

import argparse
import concurrent.futures
import html
import html.parser
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

import markdown

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONCEPTS = ["running", "model-language", "python", "cpp", "results", "viewer", "notation", "architecture", "coverage", "energy-drift"]
problems = []

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --link: light-dark(#0b57d0, #8ab4f8) }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; display: grid; grid-template-columns: 14rem minmax(0, 60rem); gap: 2rem }
nav { padding: 1.5rem 0 1.5rem 1.5rem; position: sticky; top: 0; height: 100vh; overflow: auto; box-sizing: border-box }
nav a { display: block; padding: .15rem 0; text-decoration: none } nav b { display: block; margin-top: 1rem }
nav a[aria-current] { font-weight: bold }
main { padding: 1.5rem 1.5rem 4rem 0 } a { color: #0b57d0; color: var(--link) }
pre { background: var(--soft); padding: .8rem 1rem; overflow: auto; font-size: 14px; line-height: 1.4 } pre.output { border-left: 3px solid var(--line) }
code { font-family: ui-monospace, monospace; font-size: .92em } table { border-collapse: collapse; display: block; overflow: auto; font-size: .94em }
td, th { border: 1px solid var(--line); padding: .25rem .6rem; text-align: left; vertical-align: top } td.number { font-variant-numeric: tabular-nums; text-align: right }
img { max-width: 100%; background: #fff } article { border-top: 1px solid var(--line); padding-top: 1rem; margin-top: 1.5rem }
.fail { color: #c5221f; font-weight: bold }
@media (max-width: 50rem) { body { display: block } nav { position: static; height: auto; padding: 1rem } main { padding: 1rem } }
"""


def problem(where, what):
    problems.append(f"{where}: {what}")


def github_slug(text, separator="-"):
    """Anchors as repository pages have them, so that one link works in both."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", separator)


def title_of(text, fallback):
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return found.group(1).strip("`") if found else fallback


class Site:
    def __init__(self, out, program, reports):
        self.out, self.program = out, program
        self.reports = reports  # folder for the reports to take pictures of; None: no pictures
        self.shots = []  # (report, picture)
        self.pages = {}  # source, relative to ROOT: page, relative to out
        self.titles = {}
        self.sections = []  # (heading, [page])

    def add(self, heading, sources):
        """Sources are (path in the repository, page)."""
        listed = []
        for source, page in sources:
            self.pages[source] = page
            self.titles[page] = title_of((ROOT / source).read_text(encoding="utf-8"), page)
            listed.append(page)
        self.sections.append((heading, listed))

    def link(self, source, target, page):
        """A link of a Markdown source as it must be in its page."""
        if re.match(r"[a-z]+:|#|//", target):
            return target
        path, _, anchor = target.partition("#")
        place = os.path.normpath(os.path.join(os.path.dirname(source), urllib.parse.unquote(path)))
        made = self.out / os.path.dirname(page) / path
        if place in self.pages:
            new = self.pages[place]
        elif made.exists():  # a picture that the page's own commands made
            return target
        elif (ROOT / place).is_file() and not place.startswith(".."):
            new = "source/" + place + (".txt" if place.endswith((".yaml", ".cpp", ".py")) else "")
            (self.out / new).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / place, self.out / new)
        else:
            problem(source, f"there is no `{target}`")
            return target
        return os.path.relpath(new, os.path.dirname(page) or ".") + ("#" + anchor if anchor else "")

    def render(self, source, text, page):
        maker = markdown.Markdown(extensions=["tables", "fenced_code", "toc", "sane_lists", "md_in_html"],
                                  extension_configs={"toc": {"slugify": github_slug}})
        body = maker.convert(text)

        def mend(match):
            return f'{match.group(1)}="{html.escape(self.link(source, html.unescape(match.group(2)), page))}"'

        return re.sub(r'\b(href|src)="([^"]*)"', mend, body)

    def write(self, page, body):
        base = os.path.dirname(page) or "."
        menu = []
        for heading, pages in self.sections:
            menu.append(f"<b>{html.escape(heading)}</b>")
            for other in pages:
                here = ' aria-current="page"' if other == page else ""
                menu.append(f'<a href="{os.path.relpath(other, base)}"{here}>{html.escape(self.titles[other])}</a>')
        style = os.path.relpath("style.css", base)
        path = self.out / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">\n'
            f'<title>{html.escape(self.titles[page])} - Clatter</title><link rel="stylesheet" href="{style}">\n'
            f'<nav aria-label="Pages">{"".join(menu)}</nav>\n<main>{body}</main></html>\n', encoding="utf-8")


def run_block(program, folder, block, source):
    """The block with the output of its commands."""
    shown = []
    for line in block.splitlines():
        shown.append(html.escape(line))
        if not line.startswith("$ clatter "):
            continue
        command = shlex.split(line[2:])
        done = subprocess.run([program, *command[1:]], cwd=folder, capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            problem(source, f"`{line[2:]}` ends with exit code {done.returncode}: {done.stderr.strip()}")
        if done.stdout.strip():
            shown.append(html.escape(done.stdout.rstrip()))
    return '<pre class="output"><code>' + "\n".join(shown) + "</code></pre>"


def find_browser():
    return next((b for b in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if b), None)


def cannot_photograph(program):
    """What is missing for pictures of the viewer, or None."""
    if not shutil.which("node") or not (ROOT / "viewer/node_modules/playwright-core").is_dir():
        return "the browser's driver is not installed (npm)"
    if not (pathlib.Path(program).parent / "viewer.html").exists():
        return "the viewer's page is not built"
    return None if find_browser() else "there is no Chromium"


def photograph(shots):
    """Pictures of reports, [(report, picture)], by one browser."""
    try:
        done = subprocess.run(["node", "tests/shots.mjs", *(str(path) for pair in shots for path in pair)], cwd=ROOT / "viewer",
                              env={**os.environ, "CHROMIUM": find_browser()}, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        problem("tutorials", "the browser took more than two minutes for the pictures of the viewer")
        return
    if done.returncode != 0:
        problem("tutorials", f"the browser made no pictures of the viewer: {done.stderr.strip()[-400:]}")


def with_outputs(site, source, page):
    """Runs the commands of a page; its Markdown with outputs and pictures in it."""
    text = (ROOT / source).read_text(encoding="utf-8")
    stem = pathlib.Path(source).stem
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "models").symlink_to(ROOT / "models")
        text = re.sub(r"^```console\n(.*?)^```$", lambda m: run_block(site.program, folder, m.group(1), source), text,
                      flags=re.MULTILINE | re.DOTALL)

        def shot(match):
            result = match.group(1)
            if not (folder / result).exists():
                problem(source, f"shows {result}, which none of its commands made")
                return ""
            report = site.reports / f"{stem}.html"
            done = subprocess.run([site.program, "report", result, "-o", str(report)], cwd=folder, capture_output=True, text=True)
            if done.returncode != 0:
                problem(source, f"`clatter report {result}` fails: {done.stderr.strip()}")
                return ""
            site.shots.append((report, (site.out / page).parent / f"{stem}-viewer.png"))
            return f"![The viewer with {result}]({stem}-viewer.png)"

        text = re.sub(r"^<!-- viewer: (\S+) -->$", shot if site.reports else "", text, flags=re.MULTILINE)
        target = (site.out / page).parent
        target.mkdir(parents=True, exist_ok=True)
        for picture in [*folder.glob("*.svg"), *folder.glob("*.png")]:
            shutil.copyfile(picture, target / picture.name)
    return text


def first_words(model):
    """What a model says it shows."""
    found = re.search(r"^# Shows: *(.+(?:\n#  +(?!Run:|Look:).+)*)", model, re.MULTILINE)
    return re.sub(r"\n# *", " ", found.group(1)) if found else ""


def digits(x):
    return "" if x is None else f"{x:.10g}"


def gallery(site, folder):
    entries = json.loads((folder / "gallery.json").read_text(encoding="utf-8"))
    if not entries:
        problem("gallery", "holds no models")
    parts = ["<h1>Gallery</h1>", "<p>Every model of <code>models/</code> that has numbers to meet: what it shows, the course of the first "
             "quantity it checks, and published against computed, as <code>clatter verify</code> found them when this page was made.</p>"]
    room = None
    for entry in sorted(entries, key=lambda e: e["model"]):
        path = os.path.relpath(entry["model"], ROOT)
        if not (ROOT / path).is_file():
            problem("gallery", f"there is no model `{path}`")
            continue
        if os.path.dirname(path) != room:
            room = os.path.dirname(path)
            parts.append(f'<h2 id="{html.escape(os.path.basename(room))}">{html.escape(room)}</h2>')
        picture = "gallery/" + entry["picture"]
        (site.out / "gallery").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / entry["picture"], site.out / picture)
        link = site.link("README.md", path, "gallery.html")
        shows = first_words((ROOT / path).read_text(encoding="utf-8"))
        rows = "".join(
            f'<tr><td>{html.escape(c["quantity"])}</td><td class="number">{digits(c["published"])}</td><td class="number">{digits(c["computed"])}</td>'
            f'<td class="number">{c["tolerance"]:.2g}</td><td>{"ok" if c["ok"] else "<span class=fail>differs</span>"}</td><td>{html.escape(c["source"])}</td></tr>'
            for c in entry["checks"])
        parts.append(
            f'<article id="{html.escape(pathlib.Path(path).stem)}"><h3>{html.escape(entry["title"] or pathlib.Path(path).stem)}</h3>'
            f'<p><a href="{link}">{html.escape(path)}</a> ({html.escape(entry["method"])}) {html.escape(shows)}</p>'
            f'<img src="{picture}" loading="lazy" alt="course of the first checked quantity of {html.escape(path)}">'
            f"<table><thead><tr><th>quantity<th>published<th>computed<th>tolerance<th><th>source</thead><tbody>{rows}</tbody></table></article>")
    site.titles["gallery.html"] = "Gallery"
    return "\n".join(parts)


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.targets, self.ids = [], set()

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key == "id":
                self.ids.add(value)
            elif key in ("href", "src"):
                self.targets.append(value or "")


def check_links(out):
    pages = {}
    for path in out.rglob("*.html"):
        links = Links()
        links.feed(path.read_text(encoding="utf-8"))
        pages[path.resolve()] = links
    count = 0
    for path, links in pages.items():
        for target in links.targets:
            if re.match(r"[a-z]+:|//", target):
                continue  # outside: nobody to ask without a network
            count += 1
            name, _, anchor = target.partition("#")
            file = (path.parent / urllib.parse.unquote(name)).resolve() if name else path
            if not file.exists():
                problem(path.relative_to(out), f"links to `{target}`, which is not there")
            elif anchor and file in pages and urllib.parse.unquote(anchor) not in pages[file].ids:
                problem(path.relative_to(out), f"links to `{target}`, but that page has no such heading")
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build/release/clatter")
    parser.add_argument("--gallery", default=ROOT / "build/release/gallery", type=pathlib.Path)
    parser.add_argument("--out", default=ROOT / "build/site", type=pathlib.Path)
    parser.add_argument("--no-screenshots", action="store_true", help="tutorials without pictures of the viewer")
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    if not os.access(program, os.X_OK):
        sys.exit(f"site: there is no program {program}; build it with ./clatter --version")
    if not (options.gallery / "gallery.json").exists():
        sys.exit(f"site: there is no gallery; make it with  ./clatter verify models --gallery {options.gallery}")
    out = options.out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    (out / "style.css").write_text(STYLE, encoding="utf-8")

    missing = "not wanted" if options.no_screenshots else cannot_photograph(program)
    if missing:
        print(f"site: tutorials go without pictures of the viewer: {missing}")
    reports = tempfile.TemporaryDirectory()
    site = Site(out, program, None if missing else pathlib.Path(reports.name))
    site.add("Clatter", [("README.md", "index.html")])
    tutorials = sorted((ROOT / "docs/tutorials").glob("*.md"))
    site.add("Tutorials", [(f"docs/tutorials/{p.name}", f"tutorials/{p.stem}.html") for p in tutorials])
    templates = {p.stem for p in (ROOT / "templates").glob("*.yaml")}
    for name in sorted(templates - {p.stem for p in tutorials}):
        problem(f"templates/{name}.yaml", f"has no tutorial docs/tutorials/{name}.md")
    concepts = sorted((ROOT / "docs/concepts").glob("*.md"))
    site.add("Concepts", [(f"docs/concepts/{p.name}", f"concepts/{p.stem}.html") for p in concepts])
    found = {p.stem for p in (ROOT / "docs").glob("*.md")}
    order = [n for n in CONCEPTS if n in found] + sorted(found - set(CONCEPTS))
    site.add("Reference", [(f"docs/{n}.md", f"{n}.html") for n in order])
    for heading, folder in (("Rooms", "rooms"), ("Sources", "sources")):
        pages = sorted((ROOT / "docs" / folder).glob("*.md"))
        site.add(heading, [(f"docs/{folder}/{p.name}", f"{folder}/{p.stem}.html") for p in pages])
    site.add("More", [("models/README.md", "models.html"), ("CONTRIBUTING.md", "contributing.html"), ("SECURITY.md", "security.html"), ("CHANGELOG.md", "changelog.html")])
    site.titles["gallery.html"] = "Gallery"
    site.pages["gallery"] = "gallery.html"
    site.sections.insert(3, ("Gallery", ["gallery.html"]))

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        told = [p for p in site.pages if p.startswith(("docs/tutorials/", "docs/concepts/"))]
        texts = dict(zip(told, pool.map(lambda p: with_outputs(site, p, site.pages[p]), told)))
    if site.shots:
        photograph(site.shots)
    for source, page in site.pages.items():
        if source == "gallery":
            site.write(page, gallery(site, options.gallery))
            continue
        text = texts.get(source) or (ROOT / source).read_text(encoding="utf-8")
        site.write(page, site.render(source, text, page))
    links = check_links(out)
    for line in problems:
        print(f"site: {line}", file=sys.stderr)
    if problems:
        sys.exit(1)
    print(f"{len(site.pages)} pages, {links} links hold: {os.path.relpath(out)}/index.html")


if __name__ == "__main__":
    main()
