// The entry: loads what a result tells about itself and opens its page.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { button, h } from "./dom";
import { setTheme } from "./looks";
import { Page } from "./page";
import { openSource } from "./source";
import type { Meta } from "./types";

declare global {
  interface Window {
    clatter?: unknown;
  }
}

function fail(title: string, error: unknown) {
  const text = error instanceof Error ? error.message : String(error);
  document.getElementById("app")!.replaceChildren(
    h("main", { class: "failure", role: "alert" }, h("h1", {}, title), h("p", {}, text), button("Try again", "Try again", () => location.reload(), { class: "primary" })),
  );
}

async function start() {
  setTheme(localStorageGet("clatter-theme"));
  const source = openSource();
  let meta: Meta;
  try {
    meta = await source.meta();
  } catch (error) {
    fail("This result cannot be shown", error);
    return;
  }
  document.title = `${meta.scene?.title || meta.model || meta.file} · Clatter`;
  try {
    const page = new Page(source, meta);
    await page.open();
    window.clatter = page;
  } catch (error) {
    console.error(error);
    fail("This result cannot be shown", error);
  }
}

function localStorageGet(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // a file opened from disk may have none
  }
}

void start();
