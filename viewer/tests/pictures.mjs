// The pictures of docs/viewer.md and README.md, taken from the page:  node tests/pictures.mjs
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { kFlags } from "./browser.mjs";
import { squeezed } from "./png.mjs";
import { Program } from "./program.mjs";

const out = new URL("../../docs/pictures/", import.meta.url).pathname;
mkdirSync(out, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), "clatter-pictures-"));
const program = new Program(folder);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: kFlags });

async function take(name, model, time, { theme = "light", tab, side, clip, keys = [] } = {}) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 740 }, colorScheme: theme });
  await page.goto(await program.view(program.result(model)));
  await page.locator(".chips li").first().waitFor();
  for (const label of [tab, side]) if (label) await page.getByRole("tab", { name: label }).click();
  for (const key of keys) await page.keyboard.press(key);
  await page.waitForTimeout(1500);
  await page.evaluate((t) => window.clatter.player.goto(t), time);
  await page.evaluate(() => document.activeElement?.blur());
  await page.waitForTimeout(800);
  const path = join(out, `${name}.png`);
  if (clip) await page.locator(clip).screenshot({ path });
  else await page.screenshot({ path });
  writeFileSync(path, squeezed(readFileSync(path)));
  await page.close();
  await program.stopAll();
}

await take("viewer_wall", "contact/wall_hit_by_ball", 1 / 3);
await take("viewer_box", "contact/box_thrown", 0.43, { side: "Model" });
await take("viewer_energy", "contact/box_thrown", 0.3, { tab: "Energy", clip: ".lower" });
await take("viewer_contacts", "contact/woodpecker", 0.1, { theme: "dark", tab: "Contacts", clip: ".lower" });
await take("viewer_stress", "flexible/bending_stress", 0.022, { keys: ["m"], clip: ".view" });
await browser.close();
rmSync(folder, { recursive: true, force: true });
