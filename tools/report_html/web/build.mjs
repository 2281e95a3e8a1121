// Builds the report page into one file, ../assets/report.html: script and style inside it, their
// hashes in its content security policy, three places where the program puts JSON, and at its end the
// licences of the libraries in it.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const folder = dirname(fileURLToPath(import.meta.url));
const target = resolve(process.argv[2] ?? resolve(folder, "../assets/report.html"));

const bundle = await build({
  entryPoints: { report: resolve(folder, "src/main.tsx"), style: resolve(folder, "src/style.css") },
  absWorkingDir: folder,
  bundle: true,
  minify: true,
  write: false,
  outdir: "out",
  format: "iife",
  target: "es2021",
  charset: "utf8",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "inline",
  metafile: true,
});

// The folders of the packages that gave the bundle any of its bytes.
function packagesIn(metafile) {
  const folders = new Set();
  for (const output of Object.values(metafile.outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
      const found = /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path);
      if (found && bytesInOutput > 0) folders.add(resolve(folder, found[0]));
    }
  }
  return [...folders].sort();
}

async function noticeOf(packageFolder) {
  const { name, version } = JSON.parse(await readFile(resolve(packageFolder, "package.json"), "utf8"));
  const licence = (await readFile(resolve(packageFolder, "LICENSE"), "utf8")).trim();
  return `==== ${name} ${version} ====\n\n${licence}\n`;
}

// Text that an HTML comment can hold.
function commentable(text) {
  if (text.includes("--")) throw new Error("a licence would end the comment that holds it");
  return text;
}

function textOf(name) {
  const file = bundle.outputFiles.find((output) => output.path.endsWith(name));
  if (!file) throw new Error(`esbuild made no ${name}`);
  return file.text.trim();
}

function hashOf(text) {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

// A function as the replacement keeps "$&" in the code from being taken for a pattern.
function put(page, place, text) {
  if (page.split(place).length !== 2) throw new Error(`${place} must stand in the template once`);
  return page.replace(place, () => text);
}

const script = textOf("report.js");
const style = textOf("style.css");
if (/<\/(script|style)/i.test(script + style)) throw new Error("the bundle would end its element");
let page = await readFile(resolve(folder, "src/page.html"), "utf8");
page = put(page, "SCRIPT_HASH", hashOf(script));
page = put(page, "STYLE_HASH", hashOf(style));
page = put(page, "/*STYLE*/", style);
page = put(page, "/*SCRIPT*/", script);
const notices = await Promise.all(packagesIn(bundle.metafile).map(noticeOf));
page = put(page, "NOTICES", commentable(notices.join("\n")));
await writeFile(target, page);
console.log(`${target}: ${(page.length / 1024).toFixed(0)} KiB`);
