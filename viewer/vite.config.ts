// One file: scripts and styles are put into the page itself, so that `clatter view` can serve it and `clatter report`
// can write it with a result inside. The place for the result is the comment that page.cpp looks for.
import { defineConfig, type Plugin } from "vite";

function oneFile(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_, bundle) {
      const page = bundle["index.html"];
      if (page?.type !== "asset") throw new Error("there is no index.html in the bundle");
      let html = String(page.source);
      for (const [name, part] of Object.entries(bundle)) {
        if (name === "index.html") continue;
        const code = part.type === "chunk" ? part.code : String(part.source);
        if (part.type === "chunk") {
          // "</script" may stand in a text of a library; a module runs after the page is parsed.
          const safe = code.replaceAll("</script", "<\\/script");
          html = html.replace(new RegExp(`<script[^>]*src="[^"]*${name}"[^>]*></script>`), "");
          html = html.replace("</body>", () => `<script type="module">${safe}</script>\n</body>`);
        } else {
          html = html.replace(new RegExp(`<link[^>]*href="[^"]*${name}"[^>]*>`), () => `<style>${code}</style>`);
        }
        delete bundle[name];
      }
      page.source = html;
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [oneFile()],
  build: {
    outDir: process.env.CLATTER_VIEWER_OUT ?? "dist",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 1e9,
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 4000,
  },
});
