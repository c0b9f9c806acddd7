// Tests of the page in a real browser, against the real program:
//   npm test            all of them
//   npm test -- report  those whose name holds the word
// CLATTER is the program (default: ../build/release/clatter), CHROMIUM the browser (default: /usr/bin/chromium).
// The last line is `N passed, N failed`.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { kFlags } from "./browser.mjs";
import { Program } from "./program.mjs";
import { tests } from "./tests.mjs";

const wanted = process.argv[2] ?? "";
const folder = mkdtempSync(join(tmpdir(), "clatter-viewer-"));
const program = new Program(folder);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: kFlags });
let passed = 0;
let failed = 0;

for (const [name, test] of Object.entries(tests)) {
  if (!name.includes(wanted)) continue;
  const began = Date.now();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(30000);
  const complaints = [];
  page.on("pageerror", (e) => complaints.push(e.message));
  page.on("console", (m) => {
    if (m.type() === "error" && !/Failed to load resource|ERR_CONNECTION_REFUSED/.test(m.text())) complaints.push(m.text());
  });
  try {
    await test({ page, context, program, folder });
    assert.deepEqual(complaints, [], "the page complained");
    ++passed;
    console.log(`ok      ${name} (${Date.now() - began} ms)`);
  } catch (error) {
    ++failed;
    console.log(`FAILED  ${name}\n        ${String(error.stack ?? error).replaceAll("\n", "\n        ")}`);
    if (complaints.length) console.log(`        the page: ${complaints.join("\n        ")}`);
    const picture = process.env.CLATTER_VIEWER_PICTURES;
    if (picture) await page.screenshot({ path: join(picture, `${name.replaceAll(/\W+/g, "-")}.png`) }).catch(() => {});
  } finally {
    await context.close();
    await program.stopAll();
  }
}
await browser.close();
rmSync(folder, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
