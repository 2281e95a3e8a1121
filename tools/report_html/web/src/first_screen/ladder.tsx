import { useReport } from "../context";
import * as format from "../format";
import { Section } from "../section";
import { CopiedCode } from "./copied_code";
import type { Summary } from "../summary";
import { keptText, ladderRows, type LadderRow } from "./ladder_rungs";
import { Sentence } from "../sentence";
import { Phases } from "./phases";
import { noStepsSentence, stepsSentence } from "./step_levels";

function Bar({ row }: { row: LadderRow }) {
  return (
    <span class="track" aria-hidden="true">
      <span class={row.name === "now" ? "bar now" : "bar"} style={{ width: `${Math.max(0.3, row.part * 100)}%` }} />
      {row.before_part !== undefined &&
        <span class="bar-before" style={{ left: 0, width: `${row.before_part * 100}%` }} />}
    </span>
  );
}

function Rung({ row }: { row: LadderRow }) {
  return (
    <li title={row.meaning}>
      <span class="rung-name">{row.label}</span>
      <Bar row={row} />
      <span class="rung-time">{format.time(row.time_ns)}
        <small>{format.plusMinus(row.error_ns, format.time)}</small>
        {row.before_ns !== undefined && <small class="was">was {format.time(row.before_ns)}</small>}</span>
      <b class="rung-speedup">{row.speedup}</b>
    </li>
  );
}

const WITH_COUNTERS = ["sampled", "calibrated", "range"];

// Why the ladder ends before the rooflines, and what would change that.
function missingText(summary: Summary): string {
  const names = (summary.ladder?.rungs ?? []).map((rung) => rung.name);
  if (summary.kernels.length === 0 || names.includes("at_roofline")) return "";
  const { counter_source: source, counter_source_reason: reason, counter_source_remedy: remedy } = summary.capture ?? {};
  const why = WITH_COUNTERS.includes(source ?? "") ? "Too much of the kernel time has no counters."
    : [reason ?? "No counters were read.", remedy].filter(Boolean).join(" ");
  return `At the rooflines: not known. ${why}`;
}

function titleOf(summary: Summary): string {
  const unit = summary.ladder?.unit;
  return `What ${unit === undefined || unit === "run" ? "the run" : `one ${unit}`} takes, and could take`;
}

// Without counters of kernels: what is known, what is not, and the one thing to type.
function WhatIsKnown({ summary }: { summary: Summary }) {
  const { known, not_known: notKnown, next_command: next } = summary;
  if (!known && !notKnown && !next) return null;
  return (
    <div class="known">
      {known && <p><b>Known:</b> {known}.</p>}
      {notKnown && <p><b>Not known:</b> {notKnown}.</p>}
      {next && <p><b>Type:</b></p>}
      {next && <CopiedCode text={next} />}
    </div>
  );
}

// What a step takes and could take, and how far that can be trusted.
export function LadderSection() {
  const { summary, before } = useReport();
  const rows = ladderRows(summary.ladder, before?.ladder);
  const steps = stepsSentence(summary.steps) || noStepsSentence(summary);
  const missing = missingText(summary);
  const kept = keptText(summary.ladder);
  if (rows.length === 0 && !steps && !summary.trust) return null;
  return (
    <Section id="ladder" title={rows.length > 0 ? titleOf(summary) : "How it was measured"}>
      {rows.length > 0 && <ul class="ladder">{rows.map((row) => <Rung row={row} />)}</ul>}
      {rows.length > 0 && !missing && kept && <p class="note">{kept}</p>}
      {missing && <p class="note"><Sentence text={missing} /></p>}
      {steps && <p class="levels">{steps}</p>}
      {summary.ranks?.verdict &&
        <p class="levels"><Sentence text={summary.ranks.verdict} /> <a href="#ranks">Ranks</a></p>}
      <Phases phases={summary.phases} />
      {summary.trust && <p class="trust"><b>Measured:</b> <Sentence text={summary.trust} />.{" "}
        <a href="#capture">How well</a> ± is the 95 % interval, here and everywhere below.</p>}
      <WhatIsKnown summary={summary} />
    </Section>
  );
}
