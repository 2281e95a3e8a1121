// Whose work it is: the icicle of layers, lines and operations.
import assert from "node:assert/strict";
import { test } from "node:test";
import { takePicture } from "./browser.mjs";
import { makeSummary, withOwners } from "./fixtures.mjs";
import { rowCount, withPage } from "./report_page.mjs";

const facts = (page) => page.locator(".owner-facts").textContent();
const box = (page, key) => page.locator(`[data-owner="${key}"]`);
const widthOf = async (page, key) => (await box(page, key).boundingBox()).width;
const ATTENTION = "layers/3", MLP = "layers/4", BLOCKS = "layers/1";
const ATTENTION_ROW = 3, MLP_ROW = 4;
const REPEATED_PART = 8;  // a row without one around it

test("without stacks and without operations in names there is no such section", async () => {
  await withPage(makeSummary(), {}, async (page) => {
    assert.equal(await page.locator("#owners").count(), 0);
  });
  const families = withOwners(makeSummary());
  families.owners = { time_ns: 1, operations: [families.owners.operations[1]] };
  await withPage(families, {}, async (page) => {
    assert.equal(await page.locator("#owners").count(), 0, "the families have a table");
  });
});

test("layers are as wide as their time, and coverage is said", async () => {
  const summary = withOwners(makeSummary());
  const { layers } = summary.owners;
  for (const colorScheme of ["light", "dark"]) {
    await withPage(summary, { colorScheme }, async (page) => {
      assert.match(await page.locator("#owners .note").first().textContent(),
        /81\s% has a line, 78\s% a layer, 0.0\s% an inferred one; 19\s% has no owner/);
      const all = await widthOf(page, "layers/all");
      for (const index of [0, 1, 4]) {
        const expected = all * layers[index].time_share;
        assert.ok(Math.abs(await widthOf(page, `layers/${index}`) - expected) < 3, `${index}`);
      }
      assert.ok((await box(page, "layers/0").boundingBox()).y < (await box(page, BLOCKS).boundingBox()).y);
      await page.locator("#owners").scrollIntoViewIfNeeded();
      await takePicture(page, `owners-${colorScheme}`, {});
    });
  }
});

test("a part's figures show under the pointer, with their intervals", async () => {
  await withPage(withOwners(makeSummary()), {}, async (page) => {
    assert.match(await facts(page), /^all kernels/);
    await box(page, ATTENTION).hover();
    const text = await facts(page);
    assert.match(text, /^blocks\.0\.attn.*Attention; idle mostly after train\.py:88 step/);
    for (const figure of [/time[\d.]+\s.?s \(/, /FLOPs[\d.]+\s.FLOP ± /, /DRAM bytes[\d.]+\s.B ± /,
      /savings[\d.]+\s.?s ± /, /HFU30\s%/]) assert.match(text, figure);
  });
});

test("a line says what threads were in while the GPU waited for it", async () => {
  const summary = withOwners(makeSummary());
  const [line] = summary.owners.lines;
  Object.assign(line, {
    own_idle_before_ns: 4e8, sampled_idle_ns: 3e8,
    idle_frames: ["data.py:41 Pictures.__getitem__ (Image.py:2193 <b>resize</b>)", "train.py:90 main"],
    idle_frame_ns: [2.4e8, 0.6e8],
  });
  await withPage(summary, {}, async (page) => {
    await page.locator("#owners").getByLabel("Show").selectOption({ label: "lines, by file" });
    const frames = page.locator(".idle-frames");
    await box(page, "lines/0").hover();
    const shown = await frames.locator("li").allTextContents();
    assert.deepEqual(shown.map((text) => text.replace(/\s/g, " ")), [
      "80 % data.py:41 Pictures.__getitem__ (Image.py:2193 <b>resize</b>)", "20 % train.py:90 main"]);
    assert.match(await frames.textContent(), /sampled in 300\sms of it/);
    await page.locator("#owners").scrollIntoViewIfNeeded();
    await takePicture(page, "owners-idle-frames", {});
    await box(page, "lines/1").hover();
    assert.equal(await frames.count(), 0);
  });
});

test("widths are of time, FLOPs, bytes, savings or idle time", async () => {
  const summary = withOwners(makeSummary());
  const { layers } = summary.owners;
  const tops = layers.filter((row) => row.parent === undefined);
  await withPage(summary, {}, async (page) => {
    for (const [label, field] of [["FLOPs", "flops"], ["DRAM bytes", "dram_bytes"],
      ["estimated savings", "estimated_savings_ns"], ["idle time before", "idle_before_ns"]]) {
      await page.locator("#owners").getByLabel("Width").selectOption({ label });
      const sum = tops.reduce((all, row) => all + row[field], 0);
      const expected = await widthOf(page, "layers/all") * layers[0][field] / sum;
      await page.waitForFunction(([key, width]) => Math.abs(
        document.querySelector(`[data-owner="${key}"]`).getBoundingClientRect().width - width) < 3,
      ["layers/0", expected]);
    }
    await page.locator("#owners").getByLabel("Width").selectOption({ label: "FLOPs" });
    assert.match(await page.locator("#owners").textContent(), /Kernels without counters, [\d.]+\s% of the time/);
  });
});

test("passes stand apart where a backward pass is known", async () => {
  const summary = withOwners(makeSummary());
  const { layers } = summary.owners;
  await withPage(summary, {}, async (page) => {
    assert.doesNotMatch(await page.locator("#owners").textContent(), /backward/);
    const options = await page.locator("#owners").getByLabel("Width").locator("option").allTextContents();
    assert.ok(!options.some((label) => /forward|backward|recomputed/.test(label)), options.join());
  });
  const backward = 0.6 * layers[3].time_ns;
  for (const index of [0, 1, 2, 3]) layers[index].backward_time_ns = backward;
  Object.assign(summary.owners, { backward_share: 0.3, recomputation_share: 0, optimizer_share: 0.05 });
  await withPage(summary, {}, async (page) => {
    assert.match(await page.locator("#owners .note").first().textContent(),
      /inferred one; 5.0\s% is of optimizers; 19\s% has no owner\. 30\s% are backward passes\./);
    await box(page, ATTENTION).hover();
    assert.match(await facts(page), /forward[\d.]+\s.?sbackward[\d.]+\s.?s/);
    await page.locator("#owners").getByLabel("Width").selectOption({ label: "time backward" });
    const all = await widthOf(page, "layers/all");
    await page.waitForFunction(([key, width]) => Math.abs(
      document.querySelector(`[data-owner="${key}"]`).getBoundingClientRect().width - width) < 3,
    ["layers/0", all]);
    assert.equal(await box(page, MLP).count(), 0, "it has no backward pass");
    await page.locator("#owners").getByLabel("Width").selectOption({ label: "time forward" });
    await box(page, MLP).waitFor();
  });
});

test("a part of graphs that repeats says how often it stands there", async () => {
  const summary = withOwners(makeSummary());
  const part = summary.owners.layers[REPEATED_PART];
  Object.assign(part, { kind: "repeated_part", name: "(repeated part)", instances: 12,
    inferred_time_ns: part.time_ns });
  await withPage(summary, {}, async (page) => {
    const shown = box(page, `layers/${REPEATED_PART}`);
    assert.equal(await shown.getAttribute("aria-label"), "(repeated part) ×12 (inferred)");
    await shown.hover();
    assert.match(await facts(page), /^\(repeated part\)12 times/);
  });
});

test("parts of compiled code stand below their module, with their operations", async () => {
  const summary = withOwners(makeSummary());
  const { layers } = summary.owners;
  const [module, part] = [layers[ATTENTION_ROW], layers[MLP_ROW]];
  Object.assign(module, { kind: "repeated_part", name: "(backward repeated part)", instances: 12,
    inferred_time_ns: module.time_ns, backward_time_ns: module.time_ns });
  Object.assign(part, { kind: "repeated_part", name: "(backward part) 2 prims.mm", instances: 12,
    parent: ATTENTION_ROW, time_ns: module.time_ns / 2, inferred_time_ns: module.time_ns / 2,
    backward_time_ns: module.time_ns / 2 });
  await withPage(summary, {}, async (page) => {
    assert.equal(await box(page, ATTENTION).getAttribute("aria-label"),
      "(backward repeated part) ×12 (inferred)");
    assert.equal(await box(page, MLP).getAttribute("aria-label"), "2 prims.mm (inferred)");
    await page.locator("#owners").getByLabel("Width").selectOption({ label: "time forward" });
    assert.equal(await box(page, MLP).count(), 0, "all of it is backward");
  });
});

test("a click enlarges a layer and leaves only its kernels", async () => {
  const summary = withOwners(makeSummary());
  const { layers } = summary.owners;
  await withPage(summary, {}, async (page) => {
    assert.equal(await page.locator('th[data-column="owner"]').count(), 0);
    await box(page, ATTENTION).click();
    assert.equal(await rowCount(page), 2);
    const kernels = layers[3].own_kernel_ids.map((id) => summary.kernels[id]);
    assert.equal(await page.locator("circle.kernel[data-kernel]").count(),
      kernels.filter((kernel) => kernel.flops > 0).length);
    assert.match(await page.locator(".chip").textContent(), /layer: blocks\.0\.attn/);
    assert.ok(Math.abs(await widthOf(page, ATTENTION) - await widthOf(page, "layers/all")) < 2);
    assert.equal(await box(page, MLP).count(), 0);
    // Half of the kernel's time is of the other block.
    const cell = page.locator(`tr[data-kernel="${kernels[0].id}"] td`);
    const [time, part] = await Promise.all(["time", "owner"].map(async (column) =>
      parseFloat(await cell.and(page.locator(`[data-column="${column}"]`)).textContent())));
    assert.ok(Math.abs(part / time - 0.5) < 0.01 || Math.abs(part / time - 500) < 10, `${part} of ${time}`);
    await takePicture(page, "owners-chosen");

    await box(page, BLOCKS).click();
    assert.equal(await rowCount(page), 4, "those of the layers inside");
    await page.keyboard.press("Escape");
    assert.equal(await rowCount(page), 40);
    assert.equal(await box(page, MLP).count(), 1);
    await box(page, "layers/9").click();
    assert.match(await page.locator("#owners").textContent(), /3 kernels with little of its time/);
    await box(page, "layers/9").click();
    assert.equal(await page.locator(".chip").count(), 0, "another click goes back");
  });
});

test("lines stand below their files, which can be chosen too", async () => {
  await withPage(withOwners(makeSummary()), {}, async (page) => {
    await page.locator("#owners").getByLabel("Show").selectOption({ label: "lines, by file" });
    await box(page, "lines//home/me/model.py").click();
    assert.equal(await rowCount(page), 3);
    assert.match(await page.locator(".chip").textContent(), /line: model\.py/);
    await box(page, "lines/0").click();
    assert.equal(await rowCount(page), 2);
    assert.match(await facts(page), /^model\.py:41 Attention\.forward\/home\/me\/model\.py:41/);
    await page.locator("#owners").getByLabel("Show").selectOption({ label: "operations" });
    assert.equal(await rowCount(page), 40, "a choice among others does not stay");
    assert.match(await box(page, "operations/1").textContent(), /^\(gemm\)$/);
    await box(page, "operations/0").click();
    assert.match(await facts(page), /^add \+ native_layer_norm.*as the compiler named the kernel/);
  });
});

test("without the kernels of layers a click only enlarges", async () => {
  const summary = withOwners(makeSummary());
  for (const row of summary.owners.layers) delete row.own_kernel_ids;
  await withPage(summary, {}, async (page) => {
    await box(page, ATTENTION).click();
    assert.equal(await rowCount(page), 40);
    assert.equal(await box(page, MLP).count(), 0);
  });
});

test("the keyboard goes through the tree", async () => {
  await withPage(withOwners(makeSummary()), {}, async (page) => {
    const tree = page.getByRole("tree");
    await tree.focus();
    // To all, its widest part, from there to the model, and as deep as it goes.
    for (const key of ["ArrowDown", "ArrowDown", "ArrowLeft", "ArrowLeft", "ArrowDown", "ArrowDown",
      "ArrowRight", "ArrowLeft", "ArrowDown"]) {
      await page.keyboard.press(key);
    }
    await page.waitForFunction(() =>
      /^blocks\.[01]\.(attn|mlp)/.test(document.querySelector(".owner-facts h3").textContent));
    const active = await tree.getAttribute("aria-activedescendant");
    assert.equal(await page.locator(`[id="${active}"]`).getAttribute("aria-level"), "5");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".chip");
    assert.equal(await page.locator('[role="treeitem"][aria-selected="true"]').count(), 1);
    assert.ok(await rowCount(page) < 40);
    await page.keyboard.press("Escape");
    assert.equal(await rowCount(page), 40);
  });
});

test("thousands of layers are drawn as far as they can be seen", async () => {
  const summary = withOwners(makeSummary());
  const [model] = summary.owners.layers;
  summary.owners.layers = [{ ...model, time_ns: 8000 }, ...Array.from({ length: 8000 }, (_, index) =>
    ({ ...model, name: `layers.${index}`, parent: 0, time_ns: index === 7 ? 4000 : 0.5 }))];
  await withPage(summary, {}, async (page) => {
    assert.ok(await page.locator(".icicle .box").count() < 50);
    assert.match(await box(page, "layers/8").textContent(), /layers\.7/);
  });
});

test("a phone shows it, and a touch chooses", async () => {
  await withPage(withOwners(makeSummary()),
    { viewport: { width: 390, height: 800 }, isMobile: true, hasTouch: true }, async (page) => {
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 390);
      await box(page, BLOCKS).tap();
      assert.match(await facts(page), /^blocks/);
      assert.equal(await rowCount(page), 4);
      await page.locator("#owners").scrollIntoViewIfNeeded();
      await takePicture(page, "owners-phone", {});
    });
});
