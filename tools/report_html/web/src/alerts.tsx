import { useReport } from "./context";
import * as format from "./format";
import { Section } from "./section";

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
