#!/usr/bin/env node
// Makes the documents' pictures (docs/pictures) from the bundled recording:
//   tests/browser/make_pictures.mjs build/release/bin/utlz
// Needs chromium, and `npm ci` in tools/report_html/web. The picture of 2,000 kernels, which are made
// up, needs the program make_page beside utlz.
import { execFileSync } from "node:child_process";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { makeFolder, startBrowser } from "./browser.mjs";
import { makeSummary } from "./fixtures.mjs";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const PICTURES = join(ROOT, "docs/pictures");
const MAXIMUM_BYTES = 200_000;
const NARROW_LINES = 32;
const NEXT_LINE = /^Each of these alone/;  // of the text report, behind its first findings

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

// The first lines of the text report in colours, from a pseudo-terminal: or there would be none.
function textPage(command, shown, end) {
  const colored = execFileSync("script", ["-qec", command, "/dev/null"],
    { env: { ...process.env, TERM: "xterm-256color", NO_COLOR: "" }, encoding: "utf8" });
  const lines = colored.replaceAll("\r", "").split("\n");
  const file = join(makeFolder(), "text.html");
  writeFileSync(file, terminalPage([`$ ${shown}`, ...lines.slice(0, end(lines))].join("\n")));
  return pathToFileURL(file).href;
}

function pageOf(summary) {
  const file = join(makeFolder(), "report.html");
  const json = join(makeFolder(), "summary.json");
  writeFileSync(json, JSON.stringify(summary));
  execFileSync(join(dirname(utlz), "make_page"), [file, json]);
  return pathToFileURL(file).href;
}

const folder = makeFolder();
const html = join(folder, "report.html");
writeFileSync(html, execFileSync(utlz, ["demo", "--recording", "--format", "html"], { maxBuffer: 1 << 26 }));
const text = textPage(`${utlz} demo --recording`, "utlz demo --recording",
  (lines) => lines.findIndex((line) => NEXT_LINE.test(line)));
const demo = join(ROOT, "data/demo.utlz");
const narrow = textPage(`${utlz} report --columns 80 ${demo}`, "utlz report --columns 80 demo.utlz",
  () => NARROW_LINES);

mkdirSync(PICTURES, { recursive: true });
const browser = await startBrowser();
try {
  const page = await browser.newPage({ viewport: { width: 1180, height: 740 }, colorScheme: "light" });
  await page.goto(pathToFileURL(html).href);
  await page.waitForSelector("h1");
  keep("report.png", await page.screenshot());
  await page.setViewportSize({ width: 1180, height: 1400 });
  keep("roofline.png", await page.locator("#roofline").screenshot());
  await page.goto(text);
  keep("text_report.png", await page.locator("body").screenshot());
  await page.goto(narrow);
  keep("text_80_columns.png", await page.locator("body").screenshot());
  await page.setViewportSize({ width: 380, height: 1500 });
  await page.goto(pathToFileURL(html).href);
  await page.waitForSelector("h1");
  keep("page_phone.png", await page.screenshot());
  await page.setViewportSize({ width: 700, height: 1000 });
  await page.goto(pageOf(makeSummary({ kernels: 2000 })));
  await page.locator("#kernels").scrollIntoViewIfNeeded();
  await page.locator("#kernels").evaluate((section) => section.scrollIntoView());
  keep("page_2000_kernels.png", await page.screenshot());
} finally {
  await browser.close();
}
