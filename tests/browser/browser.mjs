// Starts headless Chromium and opens report pages, watching for everything that must not happen.
import { execFileSync } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const folder = dirname(fileURLToPath(import.meta.url));
export const WEB = resolve(folder, "../../tools/report_html/web");
export const CHROMIUM = process.env.UTLZ_CHROMIUM ?? "/usr/bin/chromium";
const MAKE_PAGE = process.env.UTLZ_MAKE_PAGE;
const PICTURES = process.env.UTLZ_PICTURES;

process.setMaxListeners(100);  // a folder of each page is removed at the end

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export function playwright() {
  return createRequire(join(WEB, "package.json"))("playwright-core");
}

export async function startBrowser() {
  return playwright().chromium.launch({ executablePath: CHROMIUM, headless: true, args: FLAGS });
}

export function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), "utlz-report-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

// The page for a summary, or for { before, after, difference }, as utlz itself would write it.
export function makePage(data) {
  const place = makeFolder();
  const parts = data.difference ? [data.after, data.before, data.difference] : [data];
  const files = parts.map((part, index) => {
    const file = join(place, `${index}.json`);
    writeFileSync(file, typeof part === "string" ? part : JSON.stringify(part));
    return file;
  });
  const page = join(place, "report.html");
  execFileSync(MAKE_PAGE, [page, ...files]);
  return page;
}

export async function openPage(browser, data, options = {}) {
  return openFile(browser, makePage(data), options);
}

export async function openFile(browser, file, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);  // a busy machine is no failure
  const troubles = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) troubles.push(message.text());
  });
  page.on("pageerror", (error) => troubles.push(String(error)));
  page.on("request", (request) => {
    if (!/^(file|data):/.test(request.url())) troubles.push(`asked for ${request.url()}`);
  });
  page.on("dialog", (dialog) => { troubles.push("a dialog"); dialog.dismiss(); });
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector("h1");
  return { page, troubles, close: () => context.close() };
}

// What `utlz report --format json` says of a profile of the repository, as text.
export function reportOf(profile) {
  return execFileSync(process.env.UTLZ_PROGRAM,
    ["report", resolve(folder, "../..", profile), "--format", "json"],
    { encoding: "utf8", maxBuffer: 1 << 28 });
}

export async function takePicture(page, name, options = { fullPage: true }) {
  if (!PICTURES) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`), ...options });
}
