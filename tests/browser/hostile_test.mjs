import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage, startBrowser, takePicture } from "./browser.mjs";
import { makeHostile } from "./fixtures.mjs";

test("names cannot become markup or script", async (t) => {
  const browser = await startBrowser();
  t.after(() => browser.close());
  const { page, troubles } = await openPage(browser, makeHostile());
  await page.locator("tbody tr[data-kernel]").first().click();
  await page.locator("circle.kernel").first().dispatchEvent("mouseenter");
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator("img, #report script, iframe, object").count(), 0);
  assert.equal(await page.locator("script").count(), 4);
  assert.match(await page.locator("tbody th").first().textContent(), /<\/script><script>/);
  await page.locator('[data-owner="layers/3"]').click();
  assert.match(await page.locator(".owner-facts h3").textContent(), /attn<\/script><script>/);
  const text = await page.evaluate(() => document.getElementById("report").textContent);
  assert.doesNotMatch(text, /[\u0000-\u0008\u001b\u202a-\u202e]/);
  assert.match(text, /\\u202e\\u0000\\u001b\[31m/);
  assert.deepEqual(troubles, []);
  await takePicture(page, "hostile");
});

test("names of any length leave a phone's page as wide as the phone", async (t) => {
  const browser = await startBrowser();
  t.after(() => browser.close());
  const { page } = await openPage(browser, makeHostile(), { viewport: { width: 380, height: 900 } });
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 380);
});

test("the content security policy stops scripts and requests that were not there", async (t) => {
  const browser = await startBrowser();
  t.after(() => browser.close());
  const { page } = await openPage(browser, {});
  const reached = await page.evaluate(async () => {
    const script = document.createElement("script");
    script.textContent = "window.hacked = 1";
    document.body.append(script);
    const asked = await fetch("http://127.0.0.1:9/").then(() => "asked", (error) => error.message);
    return { hacked: window.hacked, asked };
  });
  assert.equal(reached.hacked, undefined);
  assert.notEqual(reached.asked, "asked");
});
