import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage, startBrowser, takePicture } from "./browser.mjs";
import { makeComparison } from "./fixtures.mjs";

test("two runs are laid over each other", async (t) => {
  const browser = await startBrowser();
  t.after(() => browser.close());
  const { page, troubles } = await openPage(browser, makeComparison());
  assert.match(await page.locator("#comparison .verdict").textContent(), /16.7 % less/);
  assert.equal(await page.locator("#comparison .better").count(), 3);
  assert.match(await page.locator("#comparison").textContent(), /Gone: old_kernel/);
  assert.ok(await page.locator(".roofline .before circle").count() > 10);
  assert.ok(await page.locator(".bar-before").count() > 5);
  assert.equal(await page.locator('th[data-column="change"]').count(), 1);
  assert.match(await page.locator(".figures").textContent(), /was/);
  assert.deepEqual(troubles, []);
  await takePicture(page, "comparison");
});
