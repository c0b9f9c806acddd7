// What an engineer does with the page. Numbers on the page are compared with the program's own export.
import assert from "node:assert/strict";
import { copyFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

async function open(page, address) {
  await page.goto(address);
  await page.locator(".chips li").first().waitFor();
  await settled(page);
}
// Two frames drawn and no piece of the result on its way.
async function settled(page) {
  for (let i = 0; i < 200; ++i) {
    const busy = await page.evaluate(
      () => new Promise((ok) => requestAnimationFrame(() => requestAnimationFrame(() => ok(!window.clatter || window.clatter.timeline.busy)))),
    );
    if (!busy) return;
  }
  throw new Error("the page does not come to rest");
}
const goto = async (page, t) => {
  await page.evaluate((time) => window.clatter.player.goto(time), t);
  await settled(page);
};
const time = (page) => page.evaluate(() => window.clatter.player.time);
const poses = (page) => page.evaluate(() => [...window.clatter.motion.poses]);
const near = (a, b, tolerance, what) => assert.ok(Math.abs(a - b) <= tolerance, `${what ?? ""} ${a} is not ${b}`);
const number = (text) => Number(text.replace("−", "-"));

function fetchRaw(url, { method = "GET", host } = {}) {
  return new Promise((ok, bad) => {
    const r = request(url, { method, headers: host ? { host } : {} }, (response) => {
      let body = "";
      response.on("data", (d) => (body += d));
      response.on("end", () => ok({ status: response.statusCode, body }));
    });
    r.on("error", bad);
    r.end();
  });
}

export const tests = {
  async "a result opens with its picture, plot and checks"({ page, program }) {
    await open(page, await program.view(program.result("contact/box_thrown")));
    assert.equal(await page.locator("h1").textContent(), "Box thrown on a plane");
    assert.equal(await page.locator(".status").textContent(), "finished");
    // The picture shows more than its background.
    const colors = await page.evaluate(() => {
      const { canvas } = window.clatter.stage;
      const copy = document.createElement("canvas");
      copy.width = canvas.width;
      copy.height = canvas.height;
      const g = copy.getContext("2d");
      g.drawImage(canvas, 0, 0);
      const data = g.getImageData(0, 0, copy.width, copy.height).data;
      const seen = new Set();
      for (let i = 0; i < data.length; i += 4) seen.add((data[i] >> 4) * 256 + (data[i + 1] >> 4) * 16 + (data[i + 2] >> 4));
      return seen.size;
    });
    assert.ok(colors > 12, `only ${colors} colours in the picture`);
    await page.getByRole("tab", { name: "Model" }).click();
    await page.getByText("4 of 4 checks hold").waitFor();
    assert.equal(await page.locator(".line.ok").count(), 4);
    await page.getByRole("tab", { name: "Run" }).click();
    await page.locator(".run pre", { hasText: "energy ledger" }).waitFor();
  },

  async "playing runs the clock, loops, and stops"({ page, program }) {
    await open(page, await program.view(program.result("contact/box_thrown")));
    const before = await time(page);
    await page.keyboard.press("Space");
    await page.waitForTimeout(500);
    await page.keyboard.press("Space");
    const after = await time(page);
    assert.ok(after > before + 0.05, `the clock went from ${before} to ${after}`);
    await page.waitForTimeout(150);
    assert.equal(await time(page), after);
    await page.keyboard.press("End");
    await page.keyboard.press("[");
    assert.equal(await page.getByLabel("Speed").inputValue(), "0.5");
    await page.getByRole("button", { name: /^Loop/ }).click();
    await page.getByRole("button", { name: /^Play/ }).click();
    await page.keyboard.press("End");
    await page.getByRole("button", { name: /^Play/ }).waitFor(); // stopped at the end
    near(await time(page), 3, 1e-9);
  },

  async "a quantity chosen by name shows the recorded number"({ page, program }) {
    const result = program.result("contact/box_thrown");
    await open(page, await program.view(result));
    const box = page.getByLabel("Add a quantity by name").first();
    await box.fill("box velo z");
    await page.locator(".hits li").first().waitFor();
    await box.press("Enter");
    await page.locator(".chips li", { hasText: "box.velocity.z" }).waitFor();
    const table = program.table(result, "box.velocity");
    const row = 20;
    await goto(page, table.time[row]);
    const chip = page.locator(".chips li", { hasText: "box.velocity.z" }).locator(".value");
    for (let i = 0; i < 100 && !(await chip.textContent()); ++i) await page.waitForTimeout(30);
    near(number(await chip.textContent()), table["box.velocity.z"][row], 1e-4 * Math.abs(table["box.velocity.z"][row]));
    // It has an axis of its own unit, and can be removed again.
    assert.ok((await page.locator(".plot .u-axis").count()) >= 4);
    await page.getByLabel("Remove box.velocity.z").click();
    assert.equal(await page.locator(".chips li", { hasText: "box.velocity.z" }).count(), 0);
    // The length of a vector is a quantity too, from the list at the side.
    await page.getByLabel("Filter the quantities").fill("|box.velocity|");
    await page.getByRole("button", { name: "Plot |box.velocity|" }).click();
    await page.locator(".chips li", { hasText: "|box.velocity|" }).waitFor();
  },

  async "scrubbing moves the bodies to the recorded poses and the line in the plot"({ page, program }) {
    const result = program.result("contact/box_thrown");
    await open(page, await program.view(result));
    const table = program.table(result, "box.position", "box.orientation");
    const line = page.locator(".plot .moment").first();
    const x0 = (await line.boundingBox()).x;
    await page.getByLabel("Time", { exact: true }).evaluate((slider) => {
      slider.value = "500000";
      slider.dispatchEvent(new Event("input"));
    });
    await settled(page);
    near(await time(page), 1.5, 1e-6);
    assert.ok((await line.boundingBox()).x > x0 + 100);
    for (const row of [0, 3, 25, 41, table.time.length - 1]) {
      await goto(page, table.time[row]);
      const pose = await poses(page);
      ["x", "y", "z"].forEach((k, i) => near(pose[i], table[`box.position.${k}`][row], 1e-12, k));
      const sign = Math.sign(pose[3] * table["box.orientation.w"][row]) || 1;
      ["w", "x", "y", "z"].forEach((k, i) => near(sign * pose[3 + i], table[`box.orientation.${k}`][row], 1e-12, k));
    }
    // Half-way between two samples a body is half-way.
    await goto(page, (table.time[10] + table.time[11]) / 2);
    near((await poses(page))[0], (table["box.position.x"][10] + table["box.position.x"][11]) / 2, 1e-12);
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    near(await time(page), table.time[1], 1e-12);
  },

  async "following keeps a body in the middle"({ page, program }) {
    await open(page, await program.view(program.result("contact/box_thrown")));
    await page.getByLabel("Follow a body").selectOption({ label: "follow box" });
    for (const t of [0.1, 0.35, 2]) {
      await goto(page, t);
      const [target, pose] = await page.evaluate(() => [window.clatter.stage.controls.target.toArray(), [...window.clatter.motion.poses]]);
      for (let k = 0; k < 3; ++k) near(target[k], pose[k], 1e-9);
    }
  },

  async "a click selects a body and tells about it"({ page, program }) {
    await open(page, await program.view(program.result("contact/bouncing_ball")));
    const at = await page.evaluate(() => window.clatter.stage.project(0));
    const box = await page.locator(".view canvas").boundingBox();
    await page.mouse.click(box.x + at.x, box.y + at.y);
    await page.locator(".card", { hasText: "ball" }).waitFor();
    assert.match(await page.locator(".card").textContent(), /2 kg/);
    await page.keyboard.press("Escape");
    await page.locator(".card").waitFor({ state: "hidden" });
  },

  async "plane models are drawn flat, and can be turned into space"({ page, program }) {
    await open(page, await program.view(program.result("contact/bouncing_ball")));
    const state = () => page.evaluate(() => [window.clatter.stage.isParallel, window.clatter.stage.flat]);
    assert.deepEqual(await state(), [true, true]);
    await page.keyboard.press("1");
    assert.equal((await state())[1], false);
    await page.keyboard.press("o");
    assert.deepEqual(await state(), [false, false]);
    await page.keyboard.press("2");
    assert.deepEqual(await state(), [true, true]);
  },

  async "contacts that press have an arrow in the colour of their state"({ page, program }) {
    const result = program.result("contact/box_thrown");
    await open(page, await program.view(result));
    const names = Array.from({ length: 8 }, (_, i) => `touch[${i + 1}]`);
    const table = program.table(result, "touch*state", "touch*force");
    const drawn = () => page.evaluate(() => [window.clatter.stage.marks.shafts.mesh.count, window.clatter.stage.marks.dots.mesh.count]);
    await goto(page, 0.05);
    assert.deepEqual(await drawn(), [0, 8]);
    const last = table.time.length - 1;
    await goto(page, table.time[last]);
    const pressing = names.filter((n) => Math.hypot(...["x", "y", "z"].map((k) => table[`${n}.force.${k}`][last])) > 0);
    assert.ok(pressing.length >= 3);
    assert.deepEqual(await drawn(), [pressing.length, 8]);
    const states = await page.evaluate(() => window.clatter.motion.frame.contacts.map((c, i) => [c.name, window.clatter.motion.points[7 * i + 6]]));
    for (const [name, state] of states) assert.equal(state, table[`${name}.state`][last], name);
    await page.keyboard.press("c");
    assert.deepEqual(await drawn(), [0, 0]);
  },

  async "the energy ledger closes on the page"({ page, program }) {
    await open(page, await program.view(program.result("contact/box_thrown")));
    await page.getByRole("tab", { name: "Energy" }).click();
    await page.locator(".ledger tr").first().waitFor();
    for (const t of [0, 0.2, 0.42, 3]) {
      await goto(page, t);
      const rows = await page.locator(".ledger tr").evaluateAll((list) => list.map((r) => [r.querySelector("th").textContent, r.querySelector("td").textContent]));
      const values = rows.map(([, v]) => number(v));
      const [start] = values.slice(-2);
      const layers = values.slice(0, -2);
      near(layers.reduce((a, b) => a + b, 0), start, 2e-4 * start, `at ${t}`);
      assert.ok(layers.every((v) => v >= 0));
    }
  },

  async "the contact timeline has a lane for each contact"({ page, program }) {
    await open(page, await program.view(program.result("contact/woodpecker")));
    await page.getByRole("tab", { name: "Contacts" }).click();
    assert.deepEqual(await page.locator(".lanes li").allTextContents(), ["beak", "lower", "upper"]);
    const box = await page.locator(".scroller canvas").boundingBox();
    await page.mouse.click(box.x + (box.width - 14) / 2, box.y + 10);
    near(await time(page), 0.085, 1e-3);
    await page.getByRole("tab", { name: "Events" }).click();
    assert.ok((await page.locator(".events tbody tr").count()) > 5);
  },

  async "choosing a range of time zooms all charts, and a double click undoes it"({ page, program }) {
    await open(page, await program.view(program.result("contact/bouncing_ball")));
    const over = page.locator(".plot .u-over").first();
    const box = await over.boundingBox();
    await page.mouse.move(box.x + 0.2 * box.width, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.4 * box.width, box.y + 40, { steps: 4 });
    await page.mouse.up();
    const range = () => page.evaluate(() => [window.clatter.range.from, window.clatter.range.to]);
    const [from, to] = await range();
    near(from, 0.3, 0.01);
    near(to, 0.6, 0.01);
    await page.getByRole("button", { name: "Show all of the time" }).click();
    assert.deepEqual(await range(), [0, 1.5]);
  },

  async "the page is workable by keyboard and named for screen readers"({ page, program }) {
    await open(page, await program.view(program.result("contact/woodpecker")));
    const nameless = await page.evaluate(() =>
      [...document.querySelectorAll("button, input, select, canvas, [role=img]")]
        .filter((e) => !e.closest("[aria-hidden=true]") && !e.parentElement.closest("[role=img]"))
        .filter((e) => !(e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length || e.getAttribute("aria-hidden")))
        .map((e) => e.outerHTML.slice(0, 120)),
    );
    assert.deepEqual(nameless, []);
    await page.getByRole("tab", { name: "Plots" }).focus();
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.getByRole("tab", { name: "Energy" }).getAttribute("aria-selected"), "true");
    await page.locator(".view canvas").focus();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    assert.match(await page.getByLabel("Time", { exact: true }).getAttribute("aria-valuetext"), /seconds$/);
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    const before = await theme();
    await page.locator(".view canvas").focus();
    await page.keyboard.press("d");
    assert.notEqual(await theme(), before);
    await settled(page);
  },

  async "the report is one file that opens offline with the same numbers"({ page, context, program, folder }) {
    const result = program.result("contact/box_thrown");
    const made = program.call("report", result, "-o", "report.html");
    assert.equal(made.code, 0, made.err);
    await context.setOffline(true);
    const asked = [];
    page.on("request", (r) => r.url().startsWith("file:") || r.url().startsWith("data:") || r.url().startsWith("blob:") || asked.push(r.url()));
    await open(page, pathToFileURL(join(folder, "report.html")).href);
    await page.getByRole("tab", { name: "Model" }).click();
    await page.getByText("4 of 4 checks hold").waitFor();
    const table = program.table(result, "box.position");
    await goto(page, table.time[30]);
    const pose = await poses(page);
    ["x", "y", "z"].forEach((k, i) => assert.equal(pose[i], table[`box.position.${k}`][30]));
    assert.deepEqual(asked, []);
  },

  async "a report of little room says what it leaves out"({ program }) {
    const r = program.call("report", program.result("contact/woodpecker"), "-o", "small.html", "--size", "0.1");
    assert.equal(r.code, 0, r.err);
    assert.match(r.err, /every \d+\. sample/);
  },

  async "a deforming skin is drawn where its modes put it"({ page, program, folder }) {
    const result = program.skin(12);
    await page.goto(await program.view(result));
    await page.locator(".transport").waitFor();
    await pollUntil(page, () => window.clatter?.stage?.deforms);
    await goto(page, 0.25);
    const eta = await page.evaluate(() => [...window.clatter.motion.eta[0]]);
    near(eta[0], 0.1, 1e-12);
    near(eta[1], 0.05 * Math.cos(0.75 * Math.PI), 1e-12);
    assert.equal(await page.evaluate(() => window.clatter.stage.skins[0].skin.mesh.geometry.index.count), 12 * 12 * 6);
    // Seen from the front, edge on, the bent plate is higher than the straight one.
    const height = () =>
      page.evaluate(() => {
        const { canvas } = window.clatter.stage;
        window.clatter.stage.show.ground = window.clatter.stage.show.trails = false;
        window.clatter.stage.update(window.clatter.player.time);
        window.clatter.stage.draw();
        const copy = document.createElement("canvas");
        copy.width = canvas.width;
        copy.height = canvas.height;
        const g = copy.getContext("2d");
        g.drawImage(canvas, 0, 0);
        const { data } = g.getImageData(0, 0, copy.width, copy.height);
        const back = [data[0], data[1], data[2]];
        let low = copy.height;
        let high = 0;
        for (let y = 0; y < copy.height; ++y)
          for (let x = 0; x < copy.width; ++x) {
            const i = 4 * (y * copy.width + x);
            if (Math.abs(data[i] - back[0]) + Math.abs(data[i + 1] - back[1]) + Math.abs(data[i + 2] - back[2]) > 30) {
              low = Math.min(low, y);
              high = Math.max(high, y);
            }
          }
        return high - low;
      });
    await page.evaluate(() => {
      window.clatter.stage.look("front", false);
      window.clatter.stage.exaggerate(0);
    });
    await settled(page);
    const straight = await height();
    await page.evaluate(() => window.clatter.stage.exaggerate(3));
    const bent = await height();
    assert.ok(bent > straight + 20, `${bent} pixels bent, ${straight} straight`);
    const made = program.call("report", result, "-o", "skin.html");
    assert.equal(made.code, 0, made.err);
    await page.goto(pathToFileURL(join(folder, "skin.html")).href);
    await pollUntil(page, () => window.clatter?.stage?.deforms);
  },

  async "a natural vibration of a flexible body can be looked at"({ page, program }) {
    await open(page, await program.view(program.result("flexible/cantilever_release")));
    await pollUntil(page, () => window.clatter?.stage?.deforms);
    const box = page.getByRole("combobox", { name: "Shape of vibration" });
    // The first shape of a cantilever, held: the tip moves by a twelfth of the body, the root not at all.
    const first = (await box.locator("option").allTextContents())[1];
    assert.match(first, /^1: [\d.]+ Hz$/);
    const amounts = () => page.evaluate(() => [...window.clatter.stage.skins[0].skin.amounts]);
    await goto(page, 0);
    await box.selectOption({ index: 1 });
    const held = await amounts();
    assert.ok(Math.hypot(...held) > 0);
    await goto(page, 0.01); // time does not change it
    assert.deepEqual(await amounts(), held);
    await box.selectOption({ index: 0 });
    await settled(page);
    const computed = await page.evaluate(() => [...window.clatter.motion.eta[0]]);
    (await amounts()).forEach((x, k) => near(x, computed[k], 1e-6 * Math.max(...computed.map(Math.abs))));
  },

  async "recorded stress colours a flexible body, with a scale"({ page, program, folder }) {
    const result = program.own(
      "stress",
      `clatter: 1
gravity: [0, 0, -9.81 m/s^2]
bodies:
  rod:
    type: flexible
    position: [0.5 m, 0, 0]
    mesh: {box: [1 m, 5 cm, 3 cm], elements: [10, 2, 2]}
    material: {density: 7800 kg/m^3, young: 210 GPa, poisson: 0.3}
    interfaces: {root: x-}
    reduce: {modes: 4}
joints:
  wall: {type: fixed, between: [ground, rod.root]}
outputs: [rod.stress, rod.von_mises]
simulate: {method: radau5, end: 20 ms, output_step: 1 ms}
`,
    );
    const { "rod.von_mises": largest } = program.table(result, "rod.von_mises");
    await page.goto(await program.view(result));
    await pollUntil(page, () => window.clatter?.stage?.deforms);
    await goto(page, 0.02);
    const scale = page.getByRole("img", { name: "Scale of the von Mises stress" });
    assert.equal(await scale.isVisible(), false);
    await page.keyboard.press("m");
    await pollUntil(page, () => window.clatter.stress.most > 0);
    await pollUntil(page, () => window.clatter.stage.skins[0].skin.mesh.geometry.getAttribute("color"));
    const shown = await page.evaluate(() => ({ most: window.clatter.stress.most, now: window.clatter.stress.now }));
    near(shown.most, Math.max(...largest), 1e-6 * shown.most);
    near(shown.now[1], largest.at(-1), 1e-6 * shown.now[1]);
    assert.match(await scale.textContent(), /von Mises stress.*[kM]Pa.*now .* to .*[kM]Pa/);
    // Bending: the top at the wall is red, the free end blue.
    const colors = await page.evaluate(() => {
      const { geometry } = window.clatter.stage.skins[0].skin.mesh;
      const x = geometry.getAttribute("position").array;
      const c = geometry.getAttribute("color").array;
      let root = 0;
      let tip = 0;
      for (let i = 0; i < x.length / 3; ++i) {
        if (x[3 * i] + x[3 * i + 2] < x[3 * root] + x[3 * root + 2]) root = i;
        if (x[3 * i] > x[3 * tip]) tip = i;
      }
      return [[...c.slice(3 * root, 3 * root + 3)], [...c.slice(3 * tip, 3 * tip + 3)]];
    });
    assert.ok(colors[0][0] > colors[0][2], `${colors}`);
    assert.ok(colors[1][2] > colors[1][0], `${colors}`);
    await page.keyboard.press("m");
    assert.equal(await scale.isVisible(), false);
    assert.equal(await page.evaluate(() => window.clatter.stage.skins[0].skin.mesh.material.vertexColors), false);
    // A report has it, too.
    const made = program.call("report", result, "-o", "stress.html");
    assert.equal(made.code, 0, made.err);
    await page.goto(pathToFileURL(join(folder, "stress.html")).href);
    await pollUntil(page, () => window.clatter?.stage?.deforms);
    await page.getByRole("button", { name: "Stress (M)" }).click();
    await pollUntil(page, () => window.clatter.stress.most > 0);
  },

  async "a flexible body of a model is drawn as it deforms"({ page, program }) {
    await page.goto(await program.view(program.result("flexible/cantilever_release")));
    await page.locator(".transport").waitFor();
    await pollUntil(page, () => window.clatter?.stage?.deforms);
    // Twenty beams, each a prism of twelve triangles.
    assert.equal(await page.evaluate(() => window.clatter.stage.skins[0].skin.mesh.geometry.index.count), 20 * 12 * 3);
    await goto(page, 0.05);
    const eta = await page.evaluate(() => [...window.clatter.motion.eta[0]]);
    assert.equal(eta.length, 10);
    assert.ok(Math.hypot(...eta) > 1e-4, `${eta}`);
  },

  async "a run that goes on is followed, and its end is told"({ page, program, folder }) {
    const model = join(folder, "long.yaml");
    writeFileSync(
      model,
      `clatter: 1
title: A long swing
gravity: [0, 0, -9.81 m/s^2]
bodies:
  rod: {shape: {box: [1 m, 2 cm, 2 cm]}, mass: 2 kg, position: [0.5 m, 0, 0]}
joints:
  pin: {type: revolute, between: [ground, rod], at: [0, 0, 0], axis: y}
simulate: {method: rk4, step: 0.02 ms, end: 1000 s, output_step: 10 ms}
`,
    );
    const run = program.start(["run", "-q", model, "-o", "long.h5"]);
    await new Promise((ok) => setTimeout(ok, 1200));
    await open(page, await program.view("long.h5"));
    const rows = () => page.evaluate(() => window.clatter.timeline.rows);
    assert.match(await page.locator(".status").textContent(), /^running/);
    const before = await rows();
    await pollUntil(page, (n) => window.clatter.timeline.rows > n, before);
    assert.ok((await page.evaluate(() => window.clatter.player.last)) > 0);
    run.kill("SIGINT");
    await run.ended;
    await page.locator(".status", { hasText: "interrupted" }).waitFor();
    // What the page holds is what the file holds.
    const table = program.table("long.h5", "rod.position");
    assert.equal(await rows(), table.time.length);
    await goto(page, table.time.at(-1));
    near((await poses(page))[0], table["rod.position.x"].at(-1), 1e-12);
  },

  async "a model is run and shown, while it runs when it takes long"({ page, program, folder }) {
    program.call("new", "toy", "--template", "pendulum");
    await open(page, await program.view("toy.yaml"));
    assert.match(await page.locator(".status").textContent(), /^finished/);
    // The model of the test before: its run is still going on when the page opens, and ends with the program.
    const address = await program.view("long.yaml");
    await open(page, address);
    assert.match(await page.locator(".status").textContent(), /^running/);
    await program.stopAll();
    assert.match(program.call("info", join(folder, "long.h5")).out, /interrupted/);
  },

  async "a result that breaks while it is shown is told on the page"({ page, program, folder }) {
    const copy = join(folder, "breaks.h5");
    copyFileSync(program.result("contact/bouncing_ball"), copy);
    const address = await program.view(copy);
    await open(page, address);
    truncateSync(copy, 5000);
    await page.goto(address);
    await page.getByRole("alert").waitFor();
    assert.match(await page.getByRole("alert").textContent(), /cannot be shown.*damaged|cannot be shown.*breaks\.h5/s);
  },

  async "the server answers nobody else"({ program, folder }) {
    const address = await program.view(program.result("contact/bouncing_ball"));
    const { port, pathname } = new URL(address);
    assert.equal((await fetchRaw(address)).status, 200);
    assert.equal((await fetchRaw(`http://127.0.0.1:${port}/`)).status, 403);
    assert.equal((await fetchRaw(`http://127.0.0.1:${port}/data/meta`)).status, 403);
    assert.equal((await fetchRaw(address, { host: "example.org" })).status, 403);
    assert.equal((await fetchRaw(address, { method: "POST" })).status, 405);
    for (const path of ["../../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd", "bouncing_ball.h5", folder])
      assert.notEqual((await fetchRaw(`http://127.0.0.1:${port}${pathname}${path}`)).status, 200, path);
    for (const query of ["rows?c=99999", "rows?c=x", "rows?c=0&first=-1", "series?c=0,1", "series?c=0&k=7", "surface?i=3", "nothing"])
      assert.equal((await fetchRaw(`${address}data/${query}`)).status, 400, query);
    const others = Object.values(networkInterfaces()).flat().filter((i) => i.family === "IPv4" && !i.internal);
    for (const { address: ip } of others) await assert.rejects(fetchRaw(`http://${ip}:${port}${pathname}`));
  },

  async "what cannot be shown is said in one line, with exit code 2"({ program, folder }) {
    const good = program.result("contact/bouncing_ball");
    const cases = {
      "missing.h5": [null, /no such file/],
      "text.h5": ["hello", /not an HDF5 file/],
      "empty.h5": ["", /is empty/],
      "cut.h5": [readFileSync(good).subarray(0, 3000), /damaged/],
    };
    for (const [name, [content, message]] of Object.entries(cases)) {
      if (content !== null) writeFileSync(join(folder, name), content);
      for (const command of [["view", "--no-browser"], ["report"], ["plot", "-o", "x.svg"]]) {
        const r = program.call(...command, name, ...(command[0] === "plot" ? ["ball.position"] : []));
        assert.equal(r.code, 2, `${command} ${name}: ${r.err}`);
        assert.match(r.err, message);
      }
    }
    const report = program.call("report", "x.yaml");
    assert.equal(report.code, 2);
    assert.match(report.err, /is a model.*clatter run x\.yaml/s);
    // A model is run; what is wrong with it is told as by a run, and nothing is served or written.
    writeFileSync(join(folder, "wrong.yaml"), "clatter: 1\nbodys: {}\n");
    const model = program.call("view", "--no-browser", "wrong.yaml");
    assert.equal(model.code, 2);
    assert.match(model.err, /wrong\.yaml:2:1.*bodies/s);
    assert.equal(model.out, "");
    assert.ok(!existsSync(join(folder, "wrong.h5")));
  },

  async "a port in use and a browser that is not there are named"({ program }) {
    const result = program.result("contact/bouncing_ball");
    const { port } = new URL(await program.view(result));
    const r = program.call("view", "--no-browser", "--port", port, result);
    assert.equal(r.code, 2);
    assert.match(r.err, new RegExp(`port ${port} is in use`));
    const child = program.start(["view", result], { BROWSER: "no-such-browser" });
    for (let i = 0; i < 100 && !/Ctrl-C/.test(child.text); ++i) await new Promise((ok) => setTimeout(ok, 20));
    assert.match(child.text, /`no-such-browser` \(\$BROWSER\) is not there; open the address above yourself/);
    child.kill("SIGINT");
    assert.equal((await child.ended).code, 0);
  },

  async "without its page the program tells how to get it"({ program }) {
    const result = program.result("contact/bouncing_ball");
    for (const command of [["view", "--no-browser"], ["report"]]) {
      const r = program.elsewhere(...command, result);
      assert.equal(r.code, 2);
      assert.match(r.err, /the viewer's page is not there.*tools\/setup\.sh/s);
    }
    assert.equal(program.elsewhere("info", result).code, 0);
  },

  async "a frame of a thousand spheres costs the script less than 8 ms"({ page, program }) {
    const bodies = Array.from({ length: 1000 }, (_, i) => {
      const [x, y, z] = [i % 10, Math.floor(i / 10) % 10, Math.floor(i / 100)];
      return `  b${i}: {shape: {sphere: 4 cm}, mass: 1 kg, position: [${x / 10}, ${y / 10}, ${z / 10}], velocity: [${(i % 7) / 10}, 0, ${(i % 5) / 10}]}`;
    });
    const result = program.own(
      "crowd",
      `clatter: 1\ngravity: [0, 0, -9.81]\nbodies:\n${bodies.join("\n")}\noutputs: [energy.*]\nsimulate: {method: rk4, step: 10 ms, end: 0.2 s, output_step: 10 ms}\n`,
    );
    await page.setViewportSize({ width: 700, height: 500 });
    await page.goto(await program.view(result));
    await page.locator(".transport").waitFor();
    await pollUntil(page, () => window.clatter);
    await settled(page);
    assert.equal(await page.evaluate(() => window.clatter.stage.kinds.size), 1); // one draw call
    await budget(page, "1000 spheres");
  },

  async "a frame of a deforming mesh of 50 000 triangles costs the script less than 8 ms"({ page, program }) {
    await page.setViewportSize({ width: 700, height: 500 });
    await page.goto(await program.view(program.skin(159)));
    await page.locator(".transport").waitFor();
    await pollUntil(page, () => window.clatter?.stage?.deforms);
    await settled(page);
    await budget(page, "50 562 triangles");
  },
};

// The program's pages forbid evaluation of texts, which waitForFunction needs.
async function pollUntil(page, condition, argument) {
  for (let i = 0; i < 400; ++i) {
    if (await page.evaluate(condition, argument)) return;
    await page.waitForTimeout(50);
  }
  throw new Error(`never true: ${condition}`);
}

// Cost of moving everything to another time, drawing aside: the median of a hundred frames.
async function budget(page, what) {
  const costs = await page.evaluate(() => {
    const { player } = window.clatter;
    const list = [];
    for (let i = 0; i < 100; ++i) {
      const began = performance.now();
      player.goto(player.first + ((i * 0.37) % 1) * (player.last - player.first));
      list.push(performance.now() - began);
    }
    return list.sort((a, b) => a - b);
  });
  console.log(`        ${what}: median ${costs[50].toFixed(2)} ms, 95 % below ${costs[95].toFixed(2)} ms`);
  assert.ok(costs[50] < 8, `${costs[50]} ms`);
}
