import { useReport } from "./context";
import * as format from "./format";
import { Section } from "./section";
import type { Finding } from "./summary";

function gainText(finding: Finding, whole: string): string {
  const parts = [];
  if (finding.gain_per_step_ns !== undefined) {
    parts.push(`${format.time(finding.gain_per_step_ns)} a step`);
  } else if (finding.gain_ns !== undefined) {
    parts.push(format.time(finding.gain_ns));
  }
  if (finding.gain_share !== undefined) parts.push(`${format.share(finding.gain_share)} of the ${whole}`);
  return parts.length > 0 ? `up to ${parts.join(", ")}` : "";
}

export function Findings() {
  const { summary } = useReport();
  if (summary.findings.length === 0) return null;
  const whole = summary.window?.of === "steps" ? "time in steps" : "time";
  return (
    <Section id="findings" title="What to change first">
      <ol class="findings">
        {summary.findings.map((finding) => (
          <li>
            <h3>{finding.title}</h3>
            {gainText(finding, whole) && <p class="gain">{gainText(finding, whole)}</p>}
            <p>{finding.evidence}</p>
            <p class="advice">{finding.advice}</p>
          </li>
        ))}
      </ol>
    </Section>
  );
}
