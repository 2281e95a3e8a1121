import { useReport } from "../context";
import { Section } from "../section";
import type { Finding, Summary } from "../summary";
import { CopiedCode } from "./copied_code";
import { findingLists, gainPriceText, gainShareText, gainTimeText, isSmall } from "./finding_lists";
import { Sentence } from "../sentence";

function Gain({ finding, summary }: { finding: Finding; summary: Summary }) {
  const time = gainTimeText(finding);
  if (!time) return null;
  const more = [gainShareText(finding, summary), gainPriceText(finding)].filter(Boolean);
  return <p class="gain">{time}<span class="muted">{more.map((text) => ` · ${text}`)}</span></p>;
}

function FindingCard({ finding, summary }: { finding: Finding; summary: Summary }) {
  return (
    <li data-rule={finding.rule}>
      <h3>{finding.title}</h3>
      <Gain finding={finding} summary={summary} />
      <p class="evidence"><Sentence text={finding.evidence} /></p>
      {finding.advice && <p class="advice"><b>Try:</b> <Sentence text={finding.advice} /></p>}
      {finding.type_this && <CopiedCode text={finding.type_this} />}
    </li>
  );
}

function SmallLoss({ finding, summary }: { finding: Finding; summary: Summary }) {
  return (
    <li data-rule={finding.rule}>
      <h4>{finding.title_short ?? finding.title}</h4>
      <Gain finding={finding} summary={summary} />
      <p class="evidence"><Sentence text={finding.evidence} /></p>
      {finding.type_this && <CopiedCode text={finding.type_this} />}
    </li>
  );
}

// What no rule explains is no loss beside others.
function SmallTitle({ small: all }: { small: Finding[] }) {
  const losses = all.filter((finding) => finding.rule !== "remaining");
  const [largest] = losses.length > 0 ? losses : all;
  const gain = gainTimeText(largest);
  const name = `${largest.title_short ?? largest.title}${gain && ` (${gain})`}`;
  if (losses.length === 0) return <summary>{name}</summary>;
  const small = isSmall(largest);
  if (losses.length === 1) {
    const one = small ? "One smaller loss" : "Not small, but seldom the first thing to change";
    return <summary>{one}: {name}</summary>;
  }
  const are = small ? "smaller losses, each of which alone would change little"
    : "losses that are not all small, but seldom the first thing to change";
  return <summary>{losses.length} {are}; the largest: {name}</summary>;
}

// What is not small is the nature of the load: products of one row, say.
function Nothing({ small }: { small: Finding[] }) {
  const [largest] = small;
  if (largest === undefined) {
    return <p>No loss of half a per cent or more was seen in what was measured.</p>;
  }
  return <p>{isSmall(largest) ? "No single cause is large. The largest come first:"
    : "No fault is above its threshold. What limits this load comes first:"}</p>;
}

// The three things to do first, in cards where they are large; what else was found is folded.
export function Findings() {
  const { summary } = useReport();
  const { first, next, more, small } = findingLists(summary.findings);
  if (summary.findings.length === 0 && summary.kernels.length === 0) return null;
  return (
    <Section id="findings" title="What to do first">
      {first.length === 0 && <Nothing small={small} />}
      {first.length > 0 && <ol class="findings">
        {first.map((finding) => <FindingCard finding={finding} summary={summary} />)}
      </ol>}
      {next.length > 0 && <ol class="findings" start={first.length + 1}>
        {next.map((finding) => <SmallLoss finding={finding} summary={summary} />)}
      </ol>}
      {more.length > 0 && <details class="folded">
        <summary>{more.length} more to do</summary>
        <ol class="findings" start={first.length + 1}>
          {more.map((finding) => <FindingCard finding={finding} summary={summary} />)}
        </ol>
      </details>}
      {small.length > 0 && <details class="folded small-losses" open={first.length === 0}>
        <SmallTitle small={small} />
        <ul>{small.map((finding) => <SmallLoss finding={finding} summary={summary} />)}</ul>
      </details>}
    </Section>
  );
}
