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

// Those that are left of all of node_modules once what is not called is gone.
const LIBRARIES = ["d3-array", "d3-color", "d3-format", "d3-interpolate", "d3-scale", "preact", "uplot"];

test("the page carries the licences of the libraries in it", () => {
  const page = readFileSync(join(WEB, "../assets/report.html"), "utf8");
  const notices = page.slice(page.lastIndexOf("<!--"));
  for (const name of LIBRARIES) {
    const library = join(WEB, "node_modules", name);
    const { version } = JSON.parse(readFileSync(join(library, "package.json"), "utf8"));
    assert.ok(notices.includes(`==== ${name} ${version} ====`), `${name} is not named`);
    assert.ok(notices.includes(readFileSync(join(library, "LICENSE"), "utf8").trim()),
      `${name}'s licence is missing`);
  }
  assert.equal(notices.match(/^==== /gm).length, LIBRARIES.length);
  assert.ok(page.length < 2_000_000);
});
