import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { test } from "node:test";
import { makePage, takePicture } from "./browser.mjs";
import { makeSummary } from "./fixtures.mjs";
import { rowCount, withPage } from "./report_page.mjs";

test("shows the verdict, every section and no trouble, light and dark", async () => {
  for (const colorScheme of ["light", "dark"]) {
    await withPage(makeSummary(), { colorScheme }, async (page) => {
      assert.match(await page.locator("h1").textContent(), /^The GPU was busy 97\s%/);
      for (const id of ["ladder", "findings", "families", "figures", "alerts", "waterfall", "roofline", "kernels", "steps", "timeline",
        "ranks", "communication", "copies", "nvtx", "processes", "memory", "capture"]) {
        assert.equal(await page.locator(`section#${id}`).count(), 1, id);
      }
      assert.equal(await page.locator("html").getAttribute("data-theme"), colorScheme);
      await takePicture(page, `report-${colorScheme}`);
    });
  }
});

test("says what the figures are of, what was not counted and what was executed in vain", async () => {
  const summary = makeSummary();
  summary.steady_state = { scope: "steps", start_ns: 8.5e9, end_ns: 16.3e9, time_ns: 6.8e9, pauses: 2,
    pause_time_ns: 1e9 };
  Object.assign(summary.devices[0], { run_gpu_busy_share: 0.6, run_hfu: 0.24 });
  Object.assign(summary.capture, { launches_implausible: 37,
    slowdown: { share: 0.009, error_share: 0.004, tracing_share: 0.006, sampling_share: 0.003,
      presence_share: 0, steps_share: 0.035, steps_error_share: 0.02 },
    kernel_time_without_counters_share: 0.71, samples_untraced: 650000 });
  Object.assign(summary.efficiency, { attainable_hfu_measured: 0.72, gap: [
    { name: "padding", share: 0.25, meaning: "tokens that mean nothing" },
    { name: "attention beyond the model's", share: 0.001, meaning: "blocks half masked" }] });
  await withPage(summary, {}, async (page) => {
    const head = await page.locator("#figures").textContent();
    assert.match(head, /cover the steps only: 6.80\ss traced of the time from 8.50\ss to 16.3\ss/);
    assert.match(head, /without 2 pauses of 1.00\ss/);
    assert.match(head, /busy 60\s%, HFU 24\s%/);
    assert.match(head, /padding: 25\s% of the model's FLOPs/);
    assert.doesNotMatch(head, /half masked/);
    assert.match(head, /HFU at measured ceilings72\s%/);
    const capture = await page.locator("#capture").textContent();
    assert.match(capture, /71\s% of the kernel time has no counters.*650,000 of the samples/);
    assert.match(capture, /estimated slowdown of the run0.9\s% ± 0.4\s%/);
    assert.match(capture, /estimated slowdown of the steps3.5\s% ± 2.0\s%/);
    assert.match(capture, /of the run, by tracing0.6\s%of the run, by sampling0.3\s%/);
    assert.doesNotMatch(capture, /presence/);
    assert.match(capture, /launches whose times cannot be true37/);
    assert.match(head, /HFU39\s% ± 0.8\s%/);
    assert.match(head, /Images2.16\sk\/s/);
    assert.match(head, /Above the rooflines, an hour1.44/);
  });
});

test("a server's own figures stand beside the run's, those that are known", async () => {
  await withPage(makeSummary(), {}, async (page) => {
    assert.equal(await page.locator("#server").count(), 0);
  });
  const summary = makeSummary();
  summary.application = { engine: "vllm", time_ns: 60e9, readings: 60, requests_per_second: 12.5,
    tokens_per_second: 3456, joules_per_token: 0.19, cost_per_token: 2.5e-6, waiting_mean: 3.2,
    waiting_maximum: 17, first_token_p99_ns: 0.5e9 };
  for (const [colorScheme, width] of [["light", 1280], ["dark", 390]]) {
    await withPage(summary, { colorScheme, viewport: { width, height: 900 } }, async (page) => {
      const text = await page.locator("#server").textContent();
      assert.match(text, /^Server: vllmBy its own page over 60.0\ss, read 60 times\./);
      for (const figure of [/requests12.5\s\/s/, /tokens generated3.46\sk\/s/, /energy a token0.19\sJ/,
        /cost of a million tokens2.50/, /first token, 99 % within500\sms/,
        /requests in the queue3.20/, /in the queue at most17/]) assert.match(text, figure);
      assert.doesNotMatch(text, /prompts|formula/);
      await page.locator("#server").scrollIntoViewIfNeeded();
      await takePicture(page, `server-${colorScheme}`, {});
    });
  }
});

test("collectives show their bandwidth, by size too, and why sizes are not known", async () => {
  await withPage(makeSummary(), {}, async (page) => {
    const section = page.locator("#communication");
    assert.match(await section.textContent(), /AllReduce240300\sms200\sms50.0\sGB167\sGB\/s310\sGB\/s/);
    await section.locator("summary").click();
    assert.match(await section.locator("details tbody tr").nth(1).textContent(),
      /AllReduce16404.10\skB21.0\sµs190\sMB\/s360\sMB\/s/);
  });
  const summary = makeSummary();
  summary.communication = ["AllReduce", "AllGather"].map((collective) =>
    ({ collective, launches: 3, time_ns: 1e6, size_note: "record with --nvtx" }));
  await withPage(summary, {}, async (page) => {
    const text = await page.locator("#communication").textContent();
    assert.equal(text.match(/record with --nvtx/g).length, 1);
    assert.equal(await page.locator("#communication details").count(), 0);
  });
});

test("steps drawn as traced say what tracing added", async () => {
  const summary = makeSummary();
  summary.steps.slowdown_time_ns = 1.5e6;
  await withPage(summary, {}, async (page) => {
    assert.match(await page.locator("#steps").textContent(), /tracing added 1.50\sms to each/);
    assert.doesNotMatch(await page.locator("#timeline").textContent(), /leave out/);
    await page.getByRole("button", { name: "Step 40" }).click();
    assert.match(await page.locator("#timeline").textContent(), /leave out the 1.50\sms a step/);
  });
  await withPage(makeSummary(), {}, async (page) => {
    assert.doesNotMatch(await page.locator("#steps").textContent(), /tracing/);
  });
});

test("the waterfall is of the steps, and says what lies outside of them", async () => {
  await withPage(makeSummary(), {}, async (page) => {
    const first = page.locator(".slice").first();
    assert.match(await first.textContent(), /^idle: gaps 2–100\sµs, launch-bound6.1\s% 1.82\sms a step$/);
    assert.equal(await first.locator(".bar").evaluate((bar) => bar.style.left), "0%");
    assert.match(await page.locator(".outside").textContent(), /start-up: before the first steady step 2.0\s% \(/);
  });
  const summary = makeSummary();
  summary.steady_state = { scope: "run" };
  for (const slice of summary.waterfall.slices) delete slice.time_per_step_ns;
  await withPage(summary, {}, async (page) => {
    assert.match(await page.locator(".slice").first().textContent(), /^start-up: .*2.0\s% 74.8\sms$/);
    assert.equal(await page.locator(".outside").count(), 0);
  });
});

test("an alert names its GPU where there are several", async () => {
  const summary = makeSummary();
  await withPage(summary, {}, async (page) => {
    assert.equal((await page.locator("#alerts li").textContent()).trim(),
      "temperature reached 88\u00a0°C (limit 85\u00a0°C)");
  });
  summary.devices.push({ ...summary.devices[0], uuid: "GPU-2" });
  await withPage(summary, {}, async (page) => {
    assert.match(await page.locator("#alerts li").textContent(), /\(GPU-00000000-/);
  });
});

test("a rate that may be zero is shown as what it is less than", async () => {
  const summary = makeSummary();
  const [unsure, folded] = [summary.kernels[9], summary.kernels[10]];
  Object.assign(unsure, { flops_error: unsure.flops, flops_peak_share: 0.1 });
  unsure.dram_bytes_error = 0.001 * unsure.dram_bytes;
  folded.merged_with = ["its twin"];
  await withPage(summary, {}, async (page) => {
    const cell = (kernel, column) => page.locator(`tr[data-kernel="${kernel.id}"] td[data-column="${column}"]`);
    await page.locator("#kernel-search").fill("[9]");
    assert.match(await cell(unsure, "flop_rate").textContent(), /^<[\d.,]+\s[kMGTP]?FLOP\/s$/);
    assert.match(await cell(unsure, "flop_share").textContent(), /^<[\d.]+\s%$/);
    assert.match(await cell(unsure, "byte_rate").textContent(), /^[\d.]/);
    await page.locator("#kernel-search").fill("[10]");
    assert.match(await cell(folded, "flop_rate").textContent(), /^~[\d.]/);
  });
});

test("numbers over time are those at the top until a stretch is chosen", async () => {
  const summary = makeSummary();
  summary.devices[0].dram_bytes_per_second = 1.7e12;
  const busy = summary.timeline[0];
  const half = busy.value.length / 2;
  busy.value = busy.value.map((_, index) => (index < half ? 0 : 1));
  const end = busy.interval_ns * busy.value.length;
  summary.steady_state = { scope: "steps", start_ns: end / 2, end_ns: end, pauses: 1, pause_time_ns: 1e9 };
  await withPage(summary, {}, async (page) => {
    const shares = await page.locator(".lane-title").first().textContent();
    assert.match(shares, /GPU busy 97\s%.*SM active 85\s%.*tensor active 35\s%/);
    assert.match(await page.locator("#timeline").textContent(), /HBM 1.70\sTB\/s/);
    assert.match(await page.locator("#timeline").textContent(), /Power, as NVML reads it 688\sW/);
    assert.match(await page.locator("#timeline .note").textContent(), /those of the steps, /);
    assert.match(await page.locator("#figures").textContent(), /without 1 pause of 1.00\ss/);
    await page.getByRole("button", { name: "Step 40" }).click();
    assert.match(await page.locator(".lane-title").first().textContent(), /GPU busy 0.0\s%/);
  });
});

test("a click on a bubble chooses the kernel in every view", async () => {
  await withPage(makeSummary(), {}, async (page) => {
    await page.locator('circle[data-kernel="9"]').dispatchEvent("click");
    assert.equal(await page.locator('tr[data-kernel="9"]').getAttribute("aria-selected"), "true");
    assert.match(await page.locator("#chosen h3").textContent(), /nvjet_tst/);
    assert.ok(await page.locator("circle.faded").count() > 10);
    await takePicture(page, "chosen");
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#chosen").count(), 0);
  });
});

test("hovering shows the numbers and the error bars", async () => {
  await withPage(makeSummary(), {}, async (page) => {
    await page.locator('circle[data-kernel="9"]').scrollIntoViewIfNeeded();
    await page.locator('circle[data-kernel="9"]').hover({ force: true });
    assert.match(await page.locator(".card").textContent(), /FLOP\/s.*of peak.*estimated savings/);
    assert.equal(await page.locator(".errors line").count(), 2);
  });
});

// The ends of the bars that stand still, as [x1, y1, x2, y2] each.
async function barsOf(page) {
  return page.locator(".spread").evaluateAll((paths) =>
    [...(paths.find((path) => path.tagName === "path")?.getAttribute("d") ?? "")
      .matchAll(/M([\d.]+),([\d.]+)([HV])([\d.]+)/g)]
      .map(([, x, y, along, end]) => [Number(x), Number(y),
        along === "H" ? Number(end) : Number(x), along === "V" ? Number(end) : Number(y)]));
}

test("error bars stand beyond the bubbles that do not hold them, and only there", async () => {
  const summary = makeSummary();
  for (const kernel of summary.kernels) kernel.flops_error = kernel.dram_bytes_error = 0;
  const unsure = summary.kernels[9];
  unsure.dram_bytes_error = 0.5 / 1.96 * unsure.dram_bytes;
  await withPage(summary, {}, async (page) => {
    const [cx, cy, r] = await page.locator('circle[data-kernel="9"]').evaluate((circle) =>
      ["cx", "cy", "r"].map((name) => Number(circle.getAttribute(name))));
    const bars = await barsOf(page);
    assert.equal(bars.length, 2, JSON.stringify(bars));
    for (const [x1, y1, x2, y2] of bars) {
      assert.ok(y1 === cy && y2 === cy);
      assert.ok(Math.max(x1, x2) < cx - r || Math.min(x1, x2) > cx + r);
    }
    // Half as much and half as much again.
    const ends = [Math.min(...bars.map(([x]) => x)), Math.max(...bars.map(([, , x]) => x))];
    assert.ok(Math.abs((cx - ends[0]) / (ends[1] - cx) - Math.log(2) / Math.log(1.5)) < 0.02);
    // Once others are chosen, it is theirs that count.
    await page.locator('circle[data-kernel="0"]').dispatchEvent("click");
    assert.equal((await barsOf(page)).length, 0);
  });
});

test("a slice of the waterfall filters the kernels", async () => {
  await withPage(makeSummary(), {}, async (page) => {
    const all = await rowCount(page);
    await page.getByRole("button", { name: /^memory-bound kernels/ }).click();
    const some = await rowCount(page);
    assert.ok(some > 0 && some < all);
    const bounds = await page.locator('td[data-column="bound"]').allTextContents();
    assert.ok(bounds.every((text) => text === "memory"), bounds.join());
    assert.equal(await page.locator("circle.kernel").count(), some,
      "under the roof or by its bandwidth");
  });
});

test("search, sort and columns", async () => {
  await withPage(makeSummary(), {}, async (page) => {
    await page.keyboard.press("/");
    await page.keyboard.type("softmax float");
    assert.ok(await rowCount(page) < 10);
    for (const name of await page.locator(".table tbody th").allTextContents()) assert.match(name, /softmax/);
    await page.locator("#kernel-search").fill("");
    await page.locator('th[data-column="launches"] button').click();
    const launches = (await page.locator('td[data-column="launches"]').allTextContents())
      .map((text) => Number(text.replaceAll(",", "")));
    assert.deepEqual(launches, [...launches].sort((a, b) => b - a));
    assert.equal(await page.locator('th[data-column="launches"]').getAttribute("aria-sort"), "descending");
    await page.locator(".columns summary").click();
    await page.getByLabel("DRAM bytes").check();
    assert.equal(await page.locator('th[data-column="bytes"]').count(), 1);
  });
});

test("unknown numbers are dashes and sort last", async () => {
  await withPage(makeSummary(), {}, async (page) => {
    await page.locator('th[data-column="flop_rate"] button').click();
    await page.locator('th[data-column="flop_rate"] button').click();
    await page.locator(".table").evaluate((table) => { table.scrollTop = table.scrollHeight; });
    await page.waitForFunction(() =>
      document.querySelector("tbody tr:last-child td[data-column=flop_rate]")?.textContent === "–");
  });
});

test("a step chooses its time in the other views", async () => {
  await withPage(makeSummary(), {}, async (page) => {
    await page.getByRole("button", { name: "Step 40" }).click();
    assert.equal(await page.locator('th[data-column="window"]').count(), 1);
    assert.match(await page.locator(".chip").textContent(), / to /);
  });
});

test("a stretch of the timeline chooses its time", async () => {
  await withPage(makeSummary(), {}, async (page) => {
    const over = page.locator("#timeline .u-over").first();
    await over.scrollIntoViewIfNeeded();
    const box = await over.boundingBox();
    await page.mouse.move(box.x + box.width * 0.3, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 40, { steps: 4 });
    await page.mouse.up();
    await page.waitForSelector(".chip");
    assert.equal(await page.locator('th[data-column="window"]').count(), 1);
  });
});

test("of kernels that may do no FLOPs the roofline says so", async () => {
  const summary = makeSummary();
  const kernel = summary.kernels.find((one) => one.flops > 0 && one.dram_bytes > 0);
  await withPage(summary, {}, async (page) => {
    assert.equal(await page.locator("circle.uncertain").count(), 0);
    assert.equal(await page.locator("#roofline .legend .uncertain").count(), 0);
  });
  Object.assign(kernel, { flops_error: kernel.flops, flops_peak_share: 0.1 });
  await withPage(summary, {}, async (page) => {
    assert.equal(await page.locator(`circle.uncertain[data-kernel="${kernel.id}"]`).count(), 1);
    assert.equal(await page.locator("circle.uncertain").count(), 1);
    assert.equal(await page.locator("#roofline .legend .uncertain").count(), 1);
  });
  kernel.flops_peak_share = 0.9;  // so the most of its FLOPs is beyond the peak, and says nothing
  await withPage(summary, {}, async (page) => {
    assert.equal(await page.locator(`.roofline circle[data-kernel="${kernel.id}"]`).count(), 0);
    assert.equal(await page.locator(`circle[data-strip="${kernel.id}"]`).count(), 1);
  });
});

test("what tracing took of the time shown is said", async () => {
  const summary = makeSummary();
  summary.capture.steady_state_slowdown_share = 0.19;
  await withPage(summary, {}, async (page) => {
    assert.match(await page.locator("#capture").textContent(), /Tracing itself took an estimated 19\s%/);
  });
  summary.capture.steady_state_slowdown_share = 0.01;
  await withPage(summary, {}, async (page) => {
    assert.doesNotMatch(await page.locator("#capture").textContent(), /Tracing itself/);
  });
});

test("numbers of the capture stand on one line", async () => {
  const summary = makeSummary();
  Object.assign(summary.capture, { samples_untraced: 104260, steady_state_slowdown_share: 0.017,
    kernel_time_without_counters_share: 0.114 });
  await withPage(summary, {}, async (page) => {
    const lines = await page.locator("#capture .facts").first().locator("dd").evaluateAll((all) =>
      all.map((one) => {
        const range = document.createRange();
        range.selectNodeContents(one);
        return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
      }));
    assert.ok(lines.length > 8);
    assert.deepEqual(lines.filter((number) => number !== 1), []);
  });
});

test("copies of several GPUs say whose", async () => {
  const summary = makeSummary();
  summary.devices.push({ ...summary.devices[0], uuid: "GPU-2" });
  summary.copies.push({ ...summary.copies[0], device_uuid: "GPU-2" });
  await withPage(summary, {}, async (page) => {
    assert.match(await page.locator("#copies").textContent(), /GPU 0.*GPU 1/);
  });
});

test("on paper the table of kernels loses no column", async () => {
  await withPage(makeSummary(), { viewport: { width: 718, height: 1000 } }, async (page) => {
    await page.emulateMedia({ media: "print" });
    const [table, room] = await page.locator(".table").evaluate((one) =>
      [one.querySelector("table").getBoundingClientRect().width, one.clientWidth]);
    assert.ok(table <= room + 1, `${table} of ${room}`);
  });
});

test("an NVTX range filters the kernels", async () => {
  await withPage(makeSummary(), {}, async (page) => {
    await page.getByRole("button", { name: "forward" }).click();
    assert.equal(await rowCount(page), 4);
  });
});

test("kernels without counted FLOPs stand by their bandwidth and can be chosen", async () => {
  await withPage(makeSummary(), {}, async (page) => {
    assert.equal(await page.locator("circle[data-strip]").count(), 4);
    assert.equal(await page.locator('circle.kernel[data-kernel="8"]').count(), 0);
    await page.locator('circle[data-strip="8"]').dispatchEvent("click");
    assert.equal(await page.locator('tr[data-kernel="8"]').getAttribute("aria-selected"), "true");
    await page.keyboard.press("Escape");
    await page.locator(".strip svg").focus();
    await page.keyboard.press("ArrowRight");
    await page.waitForSelector(".strip .card");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#chosen");
    await page.getByRole("button", { name: /^compute-bound/ }).click();
    assert.equal(await page.locator("circle[data-strip]").count(), 0, "filtered like the others");
  });
});

test("a process and a GPU filter every view", async () => {
  const summary = makeSummary();
  summary.processes.push({ pid: 4243, rank: 1, command: "python train.py", launches: 1 });
  summary.devices.push({ ...summary.devices[0], uuid: "GPU-2" });
  for (const kernel of summary.kernels.slice(0, 7)) kernel.pids = [4243];
  for (const kernel of summary.kernels.slice(0, 5)) kernel.device_uuid = "GPU-2";
  await withPage(summary, {}, async (page) => {
    await page.locator("#ranks").getByRole("button", { name: "4243" }).click();
    assert.equal(await rowCount(page), 7);
    assert.equal(await page.locator("circle.kernel[data-kernel]").count(), 7);
    await page.locator("nav").getByLabel("GPU").selectOption("GPU-2");
    assert.equal(await rowCount(page), 5);
    await page.keyboard.press("Escape");
    assert.equal(await rowCount(page), 40);
  });
});

test("where GPUs differ each kernel stands under its own roof", async () => {
  const summary = makeSummary();
  const [first] = summary.devices;
  summary.devices.push({ ...first, uuid: "GPU-2", name: "A narrower GPU",
    peak_dram_bytes_per_second: 0.5 * first.peak_dram_bytes_per_second });
  const placed = summary.kernels.filter((kernel) => kernel.arithmetic_intensity > 0 &&
    kernel.flops_per_second > 0);
  for (const kernel of summary.kernels) kernel.device_uuid = first.uuid;
  const [moved] = [...placed].sort((a, b) => a.time_ns - b.time_ns);
  moved.device_uuid = "GPU-2";
  await withPage(summary, {}, async (page) => {
    const roofline = page.locator("#roofline");
    const bubbles = roofline.locator("circle.kernel[data-kernel]");
    const hbm = roofline.locator(".ceilings line title").filter({ hasText: /^HBM/ }).first();
    assert.match(await roofline.locator(".note").textContent(),
      /The roof is GPU 0: .*'s\. 1 kernel of GPUs with other roofs/);
    assert.equal(await bubbles.count(), placed.length - 1);
    const wide = await hbm.textContent();
    await roofline.getByLabel("Roof of GPU").selectOption({ label: "1: A narrower GPU" });
    assert.equal(await bubbles.count(), 1);
    assert.equal(await bubbles.getAttribute("data-kernel"), String(moved.id));
    assert.notEqual(await hbm.textContent(), wide);
    await takePicture(page, "report-two-gpus");
    await bubbles.click();
    assert.match(await page.locator("#chosen").textContent(), /GPU1: A narrower GPU/);
    assert.match(await page.locator("tbody tr[data-kernel]").first().textContent(), /0: NVIDIA H200/);
    await page.locator("nav").getByLabel("GPU").selectOption(first.uuid);
    assert.equal(await bubbles.count(), placed.length - 1);
    assert.equal(await roofline.getByLabel("Roof of GPU").count(), 0, "the filter has chosen");
  });
});

test("GPUs of one kind share a roof", async () => {
  const summary = makeSummary();
  const [first] = summary.devices;
  summary.devices.push({ ...first, uuid: "GPU-2", peaks: first.peaks.map((peak) =>
    ({ ...peak, flops_per_second: 0.6 * peak.flops_per_second })) });
  summary.kernels.forEach((kernel, index) => {
    kernel.device_uuid = index % 2 === 0 ? first.uuid : "GPU-2";
  });
  await withPage(makeSummary(), {}, async (alone) => {
    const all = await alone.locator("circle.kernel[data-kernel]").count();
    assert.match(await alone.locator("#families thead").textContent(), /^familya step/);
    assert.doesNotMatch(await alone.locator("#roofline .note").textContent(), /The roof is/);
    await withPage(summary, {}, async (page) => {
      assert.equal(await page.locator("circle.kernel[data-kernel]").count(), all);
      assert.match(await page.locator("#families thead").textContent(), /^family \(per GPU\)a step/);
      assert.equal(await page.getByLabel("Roof of GPU").count(), 0);
      assert.match(await page.locator("#roofline .note").textContent(), /The roof is GPU 0: /);
    });
  });
});

test("the keyboard reaches bubbles and rows", async () => {
  await withPage(makeSummary(), {}, async (page) => {
    await page.locator(".roofline svg").focus();
    await page.keyboard.press("ArrowRight");
    await page.waitForSelector(".card");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#chosen");
    await page.locator("tbody tr[data-kernel]").first().focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForSelector('tbody tr[data-kernel]:nth-child(2)[aria-selected="true"]');
  });
});

test("2,000 kernels open and filter without thousands of rows", async () => {
  const summary = makeSummary({ kernels: 2000 });
  const bytes = statSync(makePage(summary)).size;
  assert.ok(bytes < 2 * 1024 * 1024, `${bytes} bytes`);
  await withPage(summary, {}, async (page) => {
    assert.equal(await rowCount(page), 2000);
    assert.ok(await page.locator("tbody tr").count() < 60);
    await page.locator(".table").evaluate((table) => { table.scrollTop = 1000 * 32; });
    await page.waitForFunction(() =>
      Number(document.querySelector("tbody tr[aria-rowindex]")?.getAttribute("aria-rowindex")) > 900);
    await page.locator("#kernel-search").fill("[1234]");
    assert.equal(await rowCount(page), 1);
    await page.locator("#kernel-search").fill("");
    await takePicture(page, "many");
  });
});

test("a phone shows it without scrolling sideways", async () => {
  await withPage(makeSummary(), { viewport: { width: 390, height: 800 }, isMobile: true }, async (page) => {
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 390, `${width} wide`);
    await takePicture(page, "phone");
  });
});

test("paper is light and holds the first kernels", async () => {
  await withPage(makeSummary({ kernels: 90 }), { colorScheme: "dark" }, async (page) => {
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    await page.waitForFunction(() => document.querySelectorAll("tbody tr[data-kernel]").length === 60);
    assert.equal(await page.locator("html").getAttribute("data-theme"), "light");
    assert.ok(!(await page.locator(".tools").isVisible()));
    await page.waitForFunction(() => document.querySelector(".roofline svg").clientWidth < 700);
    await takePicture(page, "print");
  });
});

// A browser may say that it prints before its media query says so.
test("what is about to be printed is light at once", async () => {
  await withPage(makeSummary({ kernels: 90 }), { colorScheme: "dark" }, async (page) => {
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    await page.waitForFunction(() => document.querySelectorAll("tbody tr[data-kernel]").length === 60);
    assert.equal(await page.locator("html").getAttribute("data-theme"), "light");
    await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
    await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  });
});

test("a profile that knows nothing still opens", async () => {
  await withPage({}, {}, async (page) => {
    assert.match(await page.locator("h1").textContent(), /^No verdict/);
  });
  const timeOnly = makeSummary();
  for (const kernel of timeOnly.kernels) {
    for (const field of ["flops", "dram_bytes", "arithmetic_intensity", "flops_per_second",
      "estimated_savings_ns", "bound"]) delete kernel[field];
  }
  delete timeOnly.timeline;
  delete timeOnly.steps;
  await withPage(timeOnly, {}, async (page) => {
    assert.equal(await page.locator("#roofline").count(), 0);
    assert.equal(await rowCount(page), 40);
  });
});
