import { useReport } from "./context";
import { Sentence } from "./sentence";
import * as format from "./format";
import type { Device, Summary } from "./summary";
import type { Theme } from "./theme";

function deviceNames(devices: Device[]): string {
  const counts = new Map<string, number>();
  for (const device of devices) {
    const name = device.name ?? device.chip ?? "unknown GPU";
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, number]) => (number > 1 ? `${number} × ${name}` : name)).join(", ");
}

function Notices({ summary }: { summary: Summary }) {
  const run = summary.run ?? {};
  const notices = [...(run.notices ?? [])];
  if (run.recording) notices.unshift(`A recording, not measured here: ${run.recording_note ?? ""}`);
  if (run.finished === false) notices.push("The profile ends before the run did.");
  if (run.signal) notices.push(`The command was ended by signal ${run.signal}.`);
  else if (run.exit_status) notices.push(`The command ended with status ${run.exit_status}.`);
  if (notices.length === 0) return null;
  return <ul class="notices" role="note">{notices.map((text) => <li>{text}</li>)}</ul>;
}

function RunLine({ summary }: { summary: Summary }) {
  const run = summary.run ?? {};
  const parts = [
    deviceNames(summary.devices),
    run.host,
    run.start_time_ns && new Date(run.start_time_ns / 1e6).toISOString().replace(/\.\d+Z/, "Z"),
    run.attached && "attached to a running process",
    `numbers: ${format.sourceText(summary.capture?.counter_source)}`,
  ].filter(Boolean);
  return <p class="run">{parts.join(" · ")}</p>;
}

export function Headline({ theme }: { theme: Theme }) {
  const { summary } = useReport();
  const command = (summary.run?.command ?? []).join(" ");
  return (
    <header>
      <div class="brand">
        <strong>utlz</strong>
        <code class="command" title={command}>{command || "a profile"}</code>
        <button type="button" class="theme" onClick={theme.toggle}>{theme.dark ? "Light" : "Dark"}</button>
      </div>
      {summary.problem && <p class="problem">{summary.problem}</p>}
      <h1>{summary.verdict ? <Sentence text={summary.verdict} />
        : "No verdict: the profile holds too little to say one."}</h1>
      <RunLine summary={summary} />
      <Notices summary={summary} />
    </header>
  );
}
