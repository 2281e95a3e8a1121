// A page of a report in the one browser of a test file, and what several files ask of it.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { openPage, startBrowser } from "./browser.mjs";

let browser;
before(async () => { browser = await startBrowser(); });
after(async () => { await browser.close(); });

// Fails also where the page logged an error or asked for anything from outside.
export async function withPage(data, options, body) {
  const { page, troubles, close } = await openPage(browser, data, options);
  try {
    await body(page);
    assert.deepEqual(troubles, []);
  } finally {
    await close();
  }
}

export const rowCount = async (page) =>
  Number(await page.locator(".table table").getAttribute("aria-rowcount")) - 1;
