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

// Limits that were crossed; each names its GPU where there are several.
export function Alerts() {
  const { summary } = useReport();
  if (summary.alerts.length === 0) return null;
  return (
    <Section id="alerts" title={summary.alerts.length === 1 ? "Alert" : "Alerts"}>
      <ul class="alerts">
        {summary.alerts.map((alert) => (
          <li data-alert={alert.name}>{format.unbroken(alert.text)}
            {summary.devices.length > 1 && alert.device_uuid && ` (${alert.device_uuid})`}</li>
        ))}
      </ul>
    </Section>
  );
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
            <p>{format.unbroken(finding.evidence)}</p>
            <p class="advice">{finding.advice}</p>
          </li>
        ))}
      </ol>
    </Section>
  );
}
