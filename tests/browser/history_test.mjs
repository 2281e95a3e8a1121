import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder, openFile, startBrowser, takePicture } from "./browser.mjs";

const HOUR_NS = 3_600_000_000_000;
const BEGIN_NS = 1_767_225_600_000_000_000;

function makeRun(index, hfu, step) {
  const course = Array.from({ length: 48 }, (_, part) => (part === 20 ? {}
    : { hfu: hfu * (1 - 0.05 * Math.sin(part)) }));
  return { begin_ns: BEGIN_NS + index * 24 * HOUR_NS, ended: true, profile: `run-${index}.utlz`,
    course, figures: { seconds: 12 * 3600, devices: 8, hfu, busy: 0.95, step_seconds: step,
      dram_bytes_per_second: 1.5e12, energy_joules: 1.7e8 } };
}

function makeHistory(name = "python3 train.py", host = "node-7") {
  const runs = [0.41, 0.40, 0.42, 0.41, 0.36].map((hfu, index) => makeRun(index, hfu, 0.13 / hfu));
  return { since_ns: BEGIN_NS, until_ns: BEGIN_NS + 200 * HOUR_NS, jobs: [
    { job: name, host, runs, hfu_change: 0.88, step_time_change: 1.14 },
    { job: "eval.py", host, runs: [{ ...makeRun(0, 0.2, 1), profile: name }] }] };
}

async function openHistory(browser, report, options) {
  const folder = makeFolder();
  const json = join(folder, "report.json");
  writeFileSync(json, JSON.stringify(report));
  const file = join(folder, "history.html");
  execFileSync(process.env.UTLZ_MAKE_HISTORY_PAGE, [file, json]);
  return openFile(browser, file, options);
}

test("a job's trends and its runs are drawn", async (t) => {
  const browser = await startBrowser();
  t.after(() => browser.close());
  const { page, troubles } = await openHistory(browser, makeHistory());
  assert.equal(await page.locator("section").count(), 2);
  assert.equal(await page.locator("figure svg").count(), 2, "HFU and step time of the first job");
  const heights = await page.locator("figure").first().locator("circle").evaluateAll(
    (marks) => marks.map((mark) => mark.getBoundingClientRect().top));
  assert.equal(heights.length, 5);
  assert.ok(Math.max(...heights) === heights[4], "the last run has the lowest HFU");
  assert.equal(await page.locator("section").first().locator("tbody tr").count(), 5);
  assert.match(await page.locator("p.worse").textContent(), /HFU -12\.0 %, step time \+14\.0 %/);
  assert.deepEqual(troubles, []);
  await takePicture(page, "history");
});

test("names of a history cannot become markup or script", async (t) => {
  const browser = await startBrowser();
  t.after(() => browser.close());
  const hostile = "</h2><script>window.hacked=1</script><img src=x onerror=window.hacked=2>'\"&lt;\u202e";
  const { page, troubles } = await openHistory(browser, makeHistory(hostile, hostile));
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator("img, script, iframe, object").count(), 0);
  assert.ok((await page.locator("h2").first().textContent()).startsWith("</h2><script>window"));
  assert.doesNotMatch(await page.locator("body").textContent(), /[\u0000-\u0008\u001b\u202a-\u202e]/);
  assert.deepEqual(troubles, []);
});

test("a history fits a phone, in the dark too", async (t) => {
  const browser = await startBrowser();
  t.after(() => browser.close());
  const { page } = await openHistory(browser, makeHistory("x".repeat(128)),
    { viewport: { width: 380, height: 900 }, colorScheme: "dark" });
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 380);
  await takePicture(page, "history_dark");
});
