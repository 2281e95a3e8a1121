import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { WEB, makeFolder } from "./browser.mjs";

test("the committed page is what its sources build", () => {
  const built = join(makeFolder(), "report.html");
  execFileSync(process.execPath, [join(WEB, "build.mjs"), built]);
  const same = readFileSync(built, "utf8") === readFileSync(join(WEB, "../assets/report.html"), "utf8");
  assert.ok(same, `run "npm run build" in ${WEB} and commit assets/report.html`);
});
