// The words and numbers of the page's first screen, without a page.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { WEB, makeFolder } from "./browser.mjs";
import { makeSummary } from "./fixtures.mjs";

const MODULES = ["measured", "format", "first_screen/ladder_rungs", "first_screen/step_levels",
  "first_screen/family_rows", "first_screen/finding_lists", "first_screen/phase_rows"];
const page = {};      // what the modules of the first screen export
let measured, format;

before(async () => {
  const esbuild = createRequire(join(WEB, "package.json"))("esbuild");
  const outdir = makeFolder();
  await esbuild.build({ entryPoints: MODULES.map((name) => join(WEB, "src", `${name}.ts`)), outdir,
    outbase: join(WEB, "src"), bundle: true, format: "esm", outExtension: { ".js": ".mjs" } });
  const load = (name) => import(pathToFileURL(join(outdir, `${name}.mjs`)).href);
  for (const name of MODULES.slice(2)) Object.assign(page, await load(name));
  [measured, format] = await Promise.all(MODULES.slice(0, 2).map(load));
});

const plain = (text) => text.replaceAll("\u00a0", " ");

test("a ladder has a bar for each rung, as long as its time", () => {
  const rows = page.ladderRows(makeSummary().ladder);
  assert.deepEqual(rows.map((row) => row.label),
    ["one step, now", "no idle time", "at the rooflines", "at peak FLOP/s"]);
  assert.deepEqual(rows.map((row) => Number(row.part.toFixed(3))), [1, 0.86, 0.5, 0.3]);
  assert.deepEqual(rows.map((row) => row.speedup), [undefined, "1.16×", "2.00×", "3.33×"]);
});

test("a ladder of one rung is none, and a run has no unit", () => {
  const { ladder } = makeSummary();
  assert.deepEqual(page.ladderRows({ ...ladder, rungs: ladder.rungs.slice(0, 1) }), []);
  assert.deepEqual(page.ladderRows(undefined), []);
  assert.equal(page.ladderRows({ ...ladder, unit: "run" })[0].label, "now");
});

test("the ladder of the run before is drawn to the same scale, if its unit is the same", () => {
  const { ladder } = makeSummary();
  const { ladder: old } = makeSummary({ speed: 2 });
  const [now] = page.ladderRows(ladder, old);
  assert.deepEqual([now.part, now.before_part], [0.5, 1]);
  assert.equal(page.ladderRows(ladder, { ...old, unit: "token" })[0].before_part, undefined);
});

test("what rounds up to a unit is told in that unit", () => {
  const texts = [999.7e6, 99.96e6, 9.996e6, 999.4e6, 999.7].map(format.time).map(plain);
  assert.deepEqual(texts, ["1.00 s", "100 ms", "10.0 ms", "999 ms", "1.00 µs"]);
  assert.equal(plain(format.withPrefix(999.8e9, "FLOP/s")), "1.00 TFLOP/s");
});

test("time of kernels without counters is said where it matters", () => {
  const { ladder } = makeSummary();
  assert.match(page.keptText(ladder), /^5\.94\sms of kernels without counters stay/);
  assert.equal(page.keptText({ ...ladder, time_kept_ns: 0.001 * ladder.rungs[0].time_ns }), "");
});

test("the sentence about steps names what holds them and what they hold", () => {
  const steps = { level: "step", time_mean_ns: 14.5e6, slowdown_time_ns: 0.8e6,
    after_traced: 3, time_minimum_ns: 14.3e6, time_maximum_ns: 16.9e6, levels: [
      { name: "call", count: 14, inner: 64, time_mean_ns: 928e6 },
      { name: "step", count: 896, inner: 22, launches: 961, time_mean_ns: 14.5e6 },
      { name: "repetition", count: 19712, launches: 41, time_p50_ns: 612e3 }] };
  assert.equal(plain(page.stepsSentence(steps)), "896 steps of 14.5 ms, 64 in each of 14 calls of " +
    "928 ms; one step has 961 launches, among them 22 equal repetitions of 41 launches, 612 µs " +
    "each. The shortest took 14.3 ms, the longest 16.9 ms. While traced, one took 15.3 ms.");
  delete steps.levels[2].launches;
  assert.match(plain(page.stepsSentence(steps)), /among them 22 equal repetitions of 612 µs\./);
  for (const level of steps.levels) delete level.inner;
  steps.levels[1].count = 895.6;
  assert.match(plain(page.stepsSentence(steps)), /^About 896 steps of 14.5 ms, in 14 calls of 928 ms; one step has 961 launches\. /);
  delete steps.after_traced;
  delete steps.levels[0].count;
  assert.match(plain(page.stepsSentence(steps)), /^At least 896 steps of 14.5 ms, in each call of 928 ms/);
  assert.equal(page.stepsSentence({ steps: 3 }), "");
  assert.equal(page.stepsSentence(undefined), "");
});

test("the run's phases are parts of its time", () => {
  const rows = page.phaseRows([{ name: "start", time_ns: 3e9 }, { name: "setup", time_ns: 0 },
    { name: "warmup", time_ns: 1e9, steps: 64 }, { name: "steps", time_ns: 6e9, steps: 832 }]);
  assert.deepEqual(rows.map(({ label, part }) => [label, part]),
    [["start", 0.3], ["warm-up (64 steps)", 0.1], ["steps", 0.6]]);
  assert.deepEqual(page.phaseRows([{ name: "work", time_ns: 1e9 }]), []);
  const [, untraced] = page.phaseRows([{ name: "steps", time_ns: 6e9 },
    { name: "untraced", time_ns: 2e9 }, { name: "end", time_ns: 1e9 }]);
  assert.equal(untraced.label, "not traced");
  assert.match(untraced.meaning, /more steps, or what follows them/);
});

test("families that are mostly uncounted, or faster than HBM, show no rate", () => {
  const summary = makeSummary();
  const [normalization, gemm, elementwise, copy] = page.familyTable(summary).rows;
  assert.equal(normalization.uncounted_share.toFixed(2), "0.10");
  assert.ok(normalization.dram_bytes_per_second > 0);
  assert.equal(gemm.uncounted_share, undefined);
  assert.equal(elementwise.uncounted_share.toFixed(2), "0.01");
  assert.deepEqual([copy.dram_bytes_per_second, copy.above_roof_ns], [undefined, undefined]);
  assert.deepEqual(copy.bar.at_roof, 0);
  summary.families[1].dram_peak_share = 1.2;
  summary.families[2].dram_bytes_per_second = 0;
  const impossible = page.familyTable(summary).rows;
  assert.equal(impossible[1].dram_bytes_per_second, undefined);
  assert.equal(impossible[2].dram_bytes_per_second, undefined);
});

test("a family without a roofline has neither time above it nor a bar beside it", () => {
  const summary = makeSummary();
  delete summary.families[1].estimated_savings_per_step_ns;
  const { above_roof_ns: above, uncounted_share: share, bar } = page.familyTable(summary).rows[1];
  assert.deepEqual([above, share], [undefined, undefined]);
  assert.deepEqual([bar.at_roof, bar.above_roof], [0, 0]);
  assert.ok(bar.uncounted > 0);
});

test("families of less than a hundredth are summed up; a row's bar is its time", () => {
  const { rows, small } = page.familyTable(makeSummary());
  assert.deepEqual(small, ["softmax"]);
  for (const { bar, share } of rows) {
    const sum = bar.at_roof + bar.above_roof + bar.uncounted;
    assert.ok(Math.abs(sum - share / 0.45) < 1e-9, `${sum}`);
  }
});

test("without steps times are of the whole", () => {
  const summary = makeSummary();
  const perStep = page.familyTable(summary).rows[0].time_ns;
  summary.steady_state.scope = "run";
  assert.equal(Math.round(page.familyTable(summary).rows[0].time_ns / perStep), 120);
});

test("three findings come first, those below their threshold last", () => {
  const finding = (rule, below) => ({ rule, below_threshold: below });
  const { first, more, small } = page.findingLists(
    [finding("a"), finding("b"), finding("s", true), finding("c"), finding("d", false)]);
  assert.deepEqual([first, more, small].map((list) => list.map(({ rule }) => rule).join("")),
    ["abc", "d", "s"]);
});

test("a run without steps says so, and what would help", () => {
  const summary = { ...makeSummary(), steady_state: { scope: "run" } };
  assert.equal(page.noStepsSentence(summary), "");
  delete summary.steps;
  assert.match(page.noStepsSentence(summary), /^No steps were found.*--step-kernel NAME/);
  assert.equal(page.noStepsSentence({ ...summary, kernels: [{ launches: 3 }] }), "");
});

test("a gain has its error, its share and its price", () => {
  const summary = makeSummary();
  const [finding] = summary.findings;
  assert.equal(plain(page.gainTimeText(finding)), "up to 3.10 ms ± 608 µs a step");
  assert.equal(plain(page.gainShareText(finding, summary)), "10 % of the time in steps");
  assert.equal(page.gainPriceText(finding), "");
  assert.equal(page.gainPriceText({ ...finding, gain_per_month: 303.7 }), "304 a month");
  assert.equal(page.gainTimeText({ rule: "memory_leak" }), "");
});

test("of what may be none the most is shown, and nothing beyond the peak", () => {
  const kernel = { time_ns: 1e9, flops: 1e12, flops_error: 1e12, flops_per_second: 1e12,
    flops_peak_share: 0.02, arithmetic_intensity: 10 };
  assert.equal(plain(measured.flopRate(kernel)), "<2.96 TFLOP/s");
  assert.equal(plain(measured.flopShare(kernel)), "<5.9 %");
  assert.equal(measured.drawnFlopShare(kernel), undefined);
  assert.equal(Math.round(measured.placeOf(kernel).intensity * 10), 296);
  const beyond = { ...kernel, flops_peak_share: 0.5 };
  assert.deepEqual([measured.flopRate(beyond), measured.flopShare(beyond), measured.intensity(beyond)],
    ["–", "–", "–"]);
  assert.equal(measured.placeOf(beyond), undefined);
  const exact = { ...kernel, flops_error: 1e10 };
  assert.equal(plain(measured.flopRate(exact)), "1.00 TFLOP/s");
  assert.equal(measured.drawnFlopShare(exact), 0.02);
});

test("a rate that the hardware cannot reach is not shown", () => {
  const kernel = { time_ns: 1e9, dram_bytes: 8e12, dram_bytes_error: 0.1e12,
    dram_bytes_per_second: 8e12, dram_peak_share: 1.79 };
  assert.deepEqual([measured.byteRate(kernel), measured.byteShare(kernel)], ["–", "–"]);
  const within = { ...kernel, dram_peak_share: 1.02 };
  assert.equal(plain(measured.byteRate(within)), "8.00 TB/s");
});

test("a share too small for a digit has two", () => {
  const texts = [0.000283, -0.0000283, 0.00099, 0.001, 0.5, 0, undefined, 1e-15]
    .map(format.preciseShare).map(plain);
  assert.deepEqual(texts, ["0.028 %", "-0.0028 %", "0.099 %", "0.1 %", "50 %", "0.0 %", "–",
    "0.000000000 %"]);
});

test("an error too small for a digit is not none", () => {
  assert.equal(plain(format.shareError(0.0001)), "<0.1 %");
  assert.equal(plain(format.shareError(0.004)), "0.4 %");
});
