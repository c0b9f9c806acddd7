// Screenshots of reports in one browser, for the documentation:  node tests/shots.mjs REPORT.html PICTURE.png ...
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { kFlags } from "./browser.mjs";
import { squeezed } from "./png.mjs";

const files = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: kFlags });
const context = await browser.newContext({ viewport: { width: 1200, height: 740 }, colorScheme: "light" });
for (let i = 0; i + 1 < files.length; i += 2) {
  const page = await context.newPage();
  await page.goto(pathToFileURL(files[i]).href);
  await page.locator(".chips li").first().waitFor();
  // A third of the way through, where something has happened.
  await page.evaluate(() => {
    const player = window.clatter.player;
    player.goto(player.first + (player.last - player.first) / 3);
    document.activeElement?.blur();
  });
  await page.waitForTimeout(700);
  await page.screenshot({ path: files[i + 1] });
  writeFileSync(files[i + 1], squeezed(readFileSync(files[i + 1])));
  await page.close();
}
await browser.close();
