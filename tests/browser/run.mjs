// Runs the browser tests, or says why not and ends with 77, which ctest shows as skipped.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CHROMIUM, WEB, playwright } from "./browser.mjs";

function skip(reason) {
  console.log(`skipped: ${reason}`);
  process.exit(77);
}

if (!existsSync(CHROMIUM)) skip(`no ${CHROMIUM}; install the package chromium`);
try {
  playwright();
} catch {
  skip(`no playwright-core; run npm ci in ${WEB}`);
}
if (!process.env.UTLZ_MAKE_PAGE) skip("UTLZ_MAKE_PAGE does not name the built make_page");
if (!process.env.UTLZ_MAKE_HISTORY_PAGE) {
  skip("UTLZ_MAKE_HISTORY_PAGE does not name the built make_history_page");
}
if (!process.env.UTLZ_PROGRAM) skip("UTLZ_PROGRAM does not name the built utlz");
const folder = dirname(fileURLToPath(import.meta.url));
const tests = ["first_screen_text_test.mjs", "first_screen_test.mjs",
  "report_test.mjs", "owners_test.mjs", "hostile_test.mjs", "comparison_test.mjs",
  "asset_test.mjs", "history_test.mjs"];
const result = spawnSync(process.execPath,
  ["--test", "--test-concurrency=1", ...tests.map((name) => join(folder, name))], { stdio: "inherit" });
process.exit(result.status ?? 1);
