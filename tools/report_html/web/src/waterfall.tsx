import { useReport } from "./context";
import * as format from "./format";
import { Section } from "./section";
import { boundsOfSlice } from "./selection";
import type { Slice, Summary } from "./summary";

const COLORS: [string, string][] = [
  ["before the first", "var(--bound-unknown)"],
  ["after the last", "var(--bound-unknown)"],
  ["pauses", "var(--bound-unknown)"],
  ["not traced", "var(--bound-unknown)"],
  ["without counters", "var(--bound-unknown)"],
  ["useful", "var(--slice-useful)"],
  ["compute", "var(--bound-compute)"],
  ["copies", "var(--slice-idle)"],
  ["idle", "var(--slice-idle)"],
  ["communication", "var(--bound-communication)"],
  ["memory", "var(--bound-memory)"],
  ["latency", "var(--bound-latency)"],
  ["occupancy", "var(--bound-latency)"],
  ["clock", "var(--slice-clock)"],
];

function colorOf(name: string): string {
  return COLORS.find(([word]) => name.toLowerCase().includes(word))?.[1] ?? "var(--bound-neither)";
}

interface Row extends Slice { name: string; share: number; offset: number; before?: number }

function sharesOf(summary: Summary | undefined): Map<string, number> {
  const total = summary?.waterfall?.total_ns ?? 0;
  return new Map((summary?.waterfall?.slices ?? []).map((slice) =>
    [slice.name ?? "", slice.share ?? (total > 0 ? (slice.time_ns ?? 0) / total : 0)]));
}

// Every slice starts where the one before it ends, from the whole down to what was useful.
function rowsOf(summary: Summary, before: Summary | undefined): Row[] {
  const shares = sharesOf(summary);
  const sharesBefore = sharesOf(before);
  let offset = 0;
  return (summary.waterfall?.slices ?? []).map((slice) => {
    const name = slice.name ?? "";
    const share = shares.get(name) ?? 0;
    const row = { ...slice, name, share, offset, before: before && (sharesBefore.get(name) ?? 0) };
    offset += share;
    return row;
  });
}

const OUTSIDE_STEPS = ["start-up", "after the last", "pauses", "not traced"];

// Time before the first step and after the last belongs to no step.
function timeText(summary: Summary, slice: Slice): string {
  const step = summary.steps?.time_mean_ns;
  const window = summary.window;
  const inSteps = window?.of === "steps" && (window.time_ns ?? 0) > 0 &&
    !OUTSIDE_STEPS.some((word) => (slice.name ?? "").startsWith(word));
  if (slice.time_ns === undefined || step === undefined || !inSteps) {
    return format.time(slice.time_ns);
  }
  const devices = Math.max(1, summary.devices.length);
  return `${format.time(slice.time_ns / devices / (window.time_ns ?? 1) * step)} a step`;
}

function Bar({ row }: { row: Row }) {
  const width = `${Math.max(0.15, row.share * 100)}%`;
  return (
    <span class="track" aria-hidden="true">
      <span class="bar" style={{ left: `${row.offset * 100}%`, width, background: colorOf(row.name) }} />
      {row.before !== undefined && (
        <span class="bar-before"
          style={{ left: `${row.offset * 100}%`, width: `${Math.max(0.15, row.before * 100)}%` }} />
      )}
    </span>
  );
}

export function Waterfall() {
  const { summary, before, selection, select } = useReport();
  const rows = rowsOf(summary, before);
  if (rows.length === 0) return null;
  const note = "From all that the GPU could have done in this time down to what was useful. " +
    "A slice about kernels filters the other views." +
    (before ? " The outlined bar is the run before." : "");
  return (
    <Section id="waterfall" title="Where the peak goes" note={note}>
      <ul class="waterfall">
        {rows.map((row) => (
          <li>
            <button type="button" class="slice" title={row.meaning}
              aria-pressed={selection.slice === row.name}
              onClick={() => select({ kind: "slice", name: row.name,
                bounds: boundsOfSlice(row.name) })}>
              <span class="slice-name">{row.name}</span>
              <Bar row={row} />
              <span class="slice-value">
                <b>{format.share(row.share)}</b>
                {" "}{timeText(summary, row)}
                {row.before !== undefined && <small> was {format.share(row.before)}</small>}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Section>
  );
}
