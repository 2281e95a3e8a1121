// Which findings stand where, and what each could give back.
import * as format from "../format";
import type { Finding, Summary } from "../summary";

const FIRST = 3;

export interface FindingLists {
  first: Finding[];  // to do first
  next: Finding[];   // smaller ones that fill up the three
  more: Finding[];   // above their thresholds, too
  small: Finding[];  // each alone would change little
}

export function findingLists(findings: Finding[]): FindingLists {
  const large = findings.filter((finding) => !finding.below_threshold);
  const small = findings.filter((finding) => finding.below_threshold);
  // What no rule explains is nothing that could be done.
  const next = large.length === 0 ? [] : small.filter((finding) => finding.rule !== "remaining")
    .slice(0, Math.max(0, FIRST - large.length));
  return { first: large.slice(0, FIRST), next, more: large.slice(FIRST),
    small: small.filter((finding) => !next.includes(finding)) };
}

// Of a finding below its rule's threshold, whether nobody would miss it. Text and Markdown draw the
// same line (tools/report/rest_of_losses.h).
export function isSmall(finding: Finding): boolean {
  const NOT_SMALL = 0.1;
  return (finding.gain_share ?? 0) < NOT_SMALL;
}

// The error is of the whole time: a step's part of it is as large as the step's part of the gain.
function errorPerStep(finding: Finding): number | undefined {
  const { gain_error_ns: error, gain_ns: gain, gain_per_step_ns: perStep } = finding;
  return error !== undefined && gain && perStep !== undefined ? error * perStep / gain : undefined;
}

export function gainTimeText(finding: Finding): string {
  if (finding.gain_per_step_ns !== undefined) {
    return `up to ${format.time(finding.gain_per_step_ns)}` +
      `${format.plusMinus(errorPerStep(finding), format.time)} a step`;
  }
  if (finding.gain_ns === undefined) return "";
  return `up to ${format.time(finding.gain_ns)}` +
    format.plusMinus(finding.gain_error_ns, format.time);
}

// Of a job that runs all month, where a price was given.
export function gainPriceText(finding: Finding): string {
  return finding.gain_per_month === undefined ? "" : `${format.price(finding.gain_per_month)} a month`;
}

export function gainShareText(finding: Finding, summary: Summary): string {
  if (finding.gain_share === undefined) return "";
  return `${format.share(finding.gain_share)} of the ` +
    (summary.steady_state?.scope === "steps" ? "time in steps" : "time");
}
