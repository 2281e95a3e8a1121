import assert from "node:assert/strict";
import { test } from "node:test";
import { reportOf, takePicture } from "./browser.mjs";
import { makeSummary } from "./fixtures.mjs";
import { withPage } from "./report_page.mjs";

const PHONE = { viewport: { width: 380, height: 800 }, isMobile: true };
const TABLET = { viewport: { width: 700, height: 900 } };
const DESKTOP = { viewport: { width: 1280, height: 900 } };

const plain = (text) => text.replaceAll("\u00a0", " ");
const textOf = async (page, selector) => plain(await page.locator(selector).textContent());

// The width of the screen: a mobile browser's own window grows with what does not fit.
async function assertNoSidewaysScroll(page) {
  const content = await page.evaluate(() => document.documentElement.scrollWidth);
  const { width } = page.viewportSize();
  assert.ok(content <= width, `${content} in ${width}`);
}

// The top of each, in the order in which a person reads them.
async function assertInOrder(page, selectors) {
  const tops = [];
  for (const selector of selectors) tops.push((await page.locator(selector).boundingBox()).y);
  assert.deepEqual(tops, [...tops].sort((a, b) => a - b));
}

test("the demo's first screen says what its JSON says, at every width", async () => {
  const json = reportOf("data/demo.utlz");
  const summary = JSON.parse(json);
  const { rungs } = summary.ladder;
  for (const [name, options] of [["phone", PHONE], ["tablet", TABLET], ["desktop", DESKTOP]]) {
    for (const colorScheme of ["light", "dark"]) {
      await withPage(json, { ...options, colorScheme }, async (page) => {
        assert.equal(await textOf(page, ".problem"), summary.problem);
        assert.equal(await page.locator(".ladder li").count(), rungs.length);
        for (const [index, rung] of rungs.entries()) {
          const row = page.locator(".ladder li").nth(index);
          assert.match(plain(await row.textContent()),
            new RegExp(`${(rung.time_ns / 1e6).toFixed(1)} ms`), rung.name);
          const width = await row.locator(".bar").evaluate((bar) => parseFloat(bar.style.width));
          assert.ok(Math.abs(width - 100 * rung.time_ns / rungs[0].time_ns) < 0.1, rung.name);
        }
        assert.ok((await textOf(page, ".trust")).includes(summary.trust));
        const large = summary.findings.filter((finding) => !finding.below_threshold);
        assert.deepEqual(await page.locator("#findings > ol.findings h3").allTextContents(),
          large.slice(0, 3).map(({ title }) => title));
        const small = summary.findings.filter((one) => one.below_threshold);
        const doable = small.filter(({ rule }) => rule !== "remaining").length;
        const next = large.length === 0 ? 0 : Math.min(doable, Math.max(0, 3 - large.length));
        assert.equal(await page.locator("#findings > ol.findings > li").count(),
          Math.min(3, large.length) + Math.min(next, summary.findings.length - large.length));
        assert.equal(await page.locator(".small-losses > ul > li").count(),
          Math.max(0, summary.findings.length - large.length - next));
        assert.deepEqual(
          await page.locator("#families tbody tr").evaluateAll((rows) =>
            rows.map((row) => row.dataset.family)),
          summary.families.filter((one) => one.time_share >= 0.01).map((one) => one.family));
        await assertNoSidewaysScroll(page);
        await assertInOrder(page, [".problem", "h1", ".ladder", "#ladder > .levels", ".phases",
          ".trust", "#figures", "#kernels"]);
        await takePicture(page, `first-screen-${name}-${colorScheme}`, {});
      });
    }
  }
});

test("a line to type is copied", async () => {
  const permissions = ["clipboard-read", "clipboard-write"];
  await withPage(makeSummary(), { permissions }, async (page) => {
    const first = page.locator(".findings li").first();
    await first.getByRole("button").click();
    await first.getByRole("button").filter({ hasText: "copied" }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()),
      "model = torch.compile(model)");
  });
});

test("where a line may not be copied it is selected", async () => {
  await withPage(makeSummary(), {}, async (page) => {
    await page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new Error("not allowed"));
    });
    await page.locator(".type-this button").first().click();
    await page.locator(".type-this button").filter({ hasText: "selected" }).waitFor();
    assert.equal(await page.evaluate(() => String(window.getSelection())),
      "model = torch.compile(model)");
  });
});

test("three losses are shown, though only two are large", async () => {
  await withPage(makeSummary(), {}, async (page) => {
    const third = page.locator("#findings > ol.findings > li").nth(2);
    assert.match(plain(await third.textContent()), /^Slow poolingup to 400 µs a step/);
    assert.equal(await third.evaluate((item) => item.parentElement.start), 3);
    assert.equal(await page.locator(".small-losses").count(), 0);
  });
});

test("what no rule explains is not among what to do", async () => {
  const summary = makeSummary();
  summary.findings[2].rule = "remaining";
  await withPage(summary, {}, async (page) => {
    assert.equal(await page.locator("#findings > ol.findings > li").count(), 2);
    assert.equal(await page.locator('.small-losses [data-rule="remaining"]').count(), 1);
    assert.doesNotMatch(await page.locator(".small-losses summary").textContent(), /loss/);
  });
});

test("small losses are folded, and the keyboard unfolds them", async () => {
  const summary = makeSummary();
  const small = summary.findings[2];
  summary.findings.push({ ...small, rule: "small_batch", title: "Small batch",
    title_short: "Small batch", evidence: "the batch is small" });
  await withPage(summary, {}, async (page) => {
    const fold = page.locator(".small-losses");
    assert.equal(await fold.locator("li").first().isVisible(), false);
    assert.match(plain(await fold.locator("summary").textContent()),
      /^One smaller loss: Small batch \(up to 400 µs a step\)$/);
    await fold.locator("summary").focus();
    await page.keyboard.press("Enter");
    await fold.getByText("the batch is small").waitFor();
  });
});

test("a fourth finding is folded and keeps its number", async () => {
  const summary = makeSummary();
  const [finding] = summary.findings;
  summary.findings = ["a", "b", "c", "d"].map((rule) => ({ ...finding, rule, title: rule }));
  await withPage(summary, {}, async (page) => {
    assert.equal(await page.locator("#findings > ol > li").count(), 3);
    await page.getByText("1 more to do").click();
    const fourth = page.locator('details [data-rule="d"]');
    await fourth.waitFor();
    assert.equal(await fourth.evaluate((item) => item.parentElement.start), 4);
  });
});

test("without a large cause the page says so, and shows the small ones", async () => {
  const summary = makeSummary();
  for (const finding of summary.findings) {
    finding.below_threshold = true;
    finding.gain_share = 0.02;
  }
  await withPage(summary, {}, async (page) => {
    assert.match(await textOf(page, "#findings"), /No single cause is large/);
    assert.equal(await page.locator(".small-losses li").first().isVisible(), true);
  });
  summary.findings[0].gain_share = 0.6;
  await withPage(summary, {}, async (page) => {
    const text = await textOf(page, "#findings");
    assert.match(text, /No fault is above its threshold. What limits this load comes first/);
    assert.doesNotMatch(text, /No single cause is large/);
  });
  summary.findings = [];
  await withPage(summary, {}, async (page) => {
    assert.match(await textOf(page, "#findings"), /No loss of half a per cent or more was seen/);
  });
});

test("without counters the ladder ends early and says what would change that", async () => {
  const summary = makeSummary();
  summary.ladder.rungs.length = 2;
  Object.assign(summary.capture, { counter_source: "time_only", counter_source_reason: "Counters need a permission.",
    counter_source_remedy: "Type: utlz doctor." });
  await withPage(summary, {}, async (page) => {
    assert.equal(await page.locator(".ladder li").count(), 2);
    assert.match(await textOf(page, "#ladder"),
      /At the rooflines: not known. Counters need a permission. Type: utlz doctor./);
    assert.doesNotMatch(await textOf(page, "#ladder"), /stay as they are/);
  });
});

test("a kernel's long name in a sentence is cut in the middle and whole in its title", async () => {
  const summary = makeSummary();
  const name = `sdpa_${"x".repeat(200)}_kernel0_0`;
  summary.findings[0].evidence = `${name} reaches 37 % of its roof`;
  await withPage(summary, PHONE, async (page) => {
    const evidence = page.locator(".findings .evidence").first();
    assert.match(await evidence.textContent(), /^sdpa_x+…x*_kernel0_0 reaches 37\s% of its roof$/);
    assert.equal(await evidence.locator("span").getAttribute("title"), name);
    await assertNoSidewaysScroll(page);
  });
});

test("2,000 kernels with long names fit every width", async () => {
  const summary = makeSummary({ kernels: 2000 });
  for (const kernel of summary.kernels) kernel.short_name += `<${"Template, ".repeat(30)}>`;
  for (const options of [PHONE, TABLET, DESKTOP]) {
    await withPage(summary, options, async (page) => {
      await assertNoSidewaysScroll(page);
      assert.ok(await page.locator("#kernels tbody tr").count() < 60);
    });
  }
});

test("of FLOPs that may be none the detail shows the most, without an error", async () => {
  const summary = makeSummary();
  const kernel = summary.kernels.find((one) => one.flops_peak_share > 0 && one.flops_peak_share < 0.2);
  kernel.flops_error = kernel.flops;
  await withPage(summary, {}, async (page) => {
    await page.locator(`circle.uncertain[data-kernel="${kernel.id}"]`).dispatchEvent("click");
    const flops = page.locator("#chosen .facts div").filter({ hasText: /^FLOPs[^ ]/ }).first();
    assert.match(await flops.textContent(), /^FLOPs<[\d.]+\s[kMGTPE]?FLOP$/);
  });
});
