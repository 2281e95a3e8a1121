#!/usr/bin/env node
// Makes the documents' pictures (docs/pictures) from the bundled recording:
//   tests/browser/make_pictures.mjs build/release/bin/utlz
// Needs chromium, and `npm ci` in tools/report_html/web.
import { execFileSync } from "node:child_process";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { makeFolder, startBrowser } from "./browser.mjs";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const PICTURES = join(ROOT, "docs/pictures");
const MAXIMUM_BYTES = 260_000;
const NEXT_LINE = /^Capture: /;  // of the text report, behind its first screen

const utlz = resolve(process.argv[2] ?? join(ROOT, "build/release/bin/utlz"));

const STYLE = `body { margin: 0; background: #16181d; color: #d8dbe0; padding: 18px 22px; width: max-content;
    font: 14px/1.3 "DejaVu Sans Mono", monospace; white-space: pre; }
  .s1 { font-weight: bold; color: #fff; } .s2 { color: #8b94a0; } .s31 { color: #ff7b72; }
  .s32 { color: #56d364; } .s33 { color: #e3b341; }`;

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

// What a terminal would show of the report's colours.
function terminalPage(text) {
  const body = text.split("\x1b[").map((part, index) => {
    const code = index === 0 ? null : /^([\d;]*)m/.exec(part);
    if (!code) return escaped(part);
    const rest = escaped(part.slice(code[0].length));
    const classes = code[1].split(";").filter((one) => one !== "0" && one !== "");
    return classes.length > 0 ? `<span class="${classes.map((one) => `s${one}`).join(" ")}">${rest}</span>` : rest;
  }).join("");
  return `<!doctype html><meta charset="utf-8"><style>${STYLE}</style><body>${body}</body>`;
}

function keep(name, picture) {
  if (picture.length > MAXIMUM_BYTES) throw new Error(`${name} has ${picture.length} bytes`);
  writeFileSync(join(PICTURES, name), picture);
  console.log(`${name}: ${statSync(join(PICTURES, name)).size} bytes`);
}

const folder = makeFolder();
const html = join(folder, "report.html");
writeFileSync(html, execFileSync(utlz, ["demo", "--recording", "--format", "html"], { maxBuffer: 1 << 26 }));
// A pseudo-terminal, or there would be no colour.
const colored = execFileSync("script", ["-qec", `${utlz} demo --recording`, "/dev/null"],
  { env: { ...process.env, TERM: "xterm-256color", NO_COLOR: "" }, encoding: "utf8" });
const text = join(folder, "report_text.html");
const lines = colored.replaceAll("\r", "").split("\n");
writeFileSync(text, terminalPage(["$ utlz demo --recording", ...lines.slice(0, lines.findIndex((line) => NEXT_LINE.test(line)))].join("\n")));

mkdirSync(PICTURES, { recursive: true });
const browser = await startBrowser();
try {
  const page = await browser.newPage({ viewport: { width: 1180, height: 830 }, colorScheme: "light" });
  await page.goto(pathToFileURL(html).href);
  await page.waitForSelector("h1");
  keep("report.png", await page.screenshot());
  await page.setViewportSize({ width: 1180, height: 1400 });
  keep("roofline.png", await page.locator("#roofline").screenshot());
  await page.goto(pathToFileURL(text).href);
  keep("text_report.png", await page.locator("body").screenshot());
} finally {
  await browser.close();
}
