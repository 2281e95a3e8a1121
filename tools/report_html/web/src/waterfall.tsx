import { useReport } from "./context";
import * as format from "./format";
import { Section } from "./section";
import { boundsOfSlice } from "./selection";
import type { Summary, WaterfallSlice } from "./summary";

const COLORS: [string, string][] = [
  ["before the first", "var(--bound-unknown)"],
  ["after the last", "var(--bound-unknown)"],
  ["pauses", "var(--bound-unknown)"],
  ["not traced", "var(--bound-unknown)"],
  ["tracing itself", "var(--bound-unknown)"],
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

// What a reader understands at once; the names of the JSON report stay as they are.
const SHOWN: Record<string, string> = {
  "idle: from kernel to kernel": "idle: gaps < 2 µs",
  "idle: launch-bound": "idle: gaps 2–100 µs, launch-bound",
  "idle: other": "idle: gaps > 100 µs, no copy explains",
  "latency-bound kernels, low occupancy": "kernels below 25 % of both roofs",
  "kernels bound by neither": "mixed kernels (25–50 % of a roof)",
};

interface Row extends WaterfallSlice { name: string; part: number; offset: number; before?: number }

// Of the steps where the slices tell it, else of the whole: what was not traced and start-up would
// dwarf all else.
function isOfSteps(summary: Summary | undefined): boolean {
  return summary?.steady_state?.scope === "steps" &&
    (summary.waterfall?.slices ?? []).some((slice) => slice.steady_state_share !== undefined);
}

function slicesOf(summary: Summary | undefined, ofSteps: boolean): WaterfallSlice[] {
  return (summary?.waterfall?.slices ?? [])
    .filter((slice) => !ofSteps || slice.steady_state_share !== undefined);
}

function partOf(slice: WaterfallSlice, ofSteps: boolean, total: number): number {
  if (ofSteps) return slice.steady_state_share ?? 0;
  return slice.share ?? (total > 0 ? (slice.time_ns ?? 0) / total : 0);
}

function partsOf(summary: Summary | undefined, ofSteps: boolean): Map<string, number> {
  const total = summary?.waterfall?.total_ns ?? 0;
  return new Map(slicesOf(summary, ofSteps).map((slice) =>
    [slice.name ?? "", partOf(slice, ofSteps, total)]));
}

// Every slice starts where the one before it ends, from the whole down to what was useful.
function rowsOf(summary: Summary, before: Summary | undefined, ofSteps: boolean): Row[] {
  const parts = partsOf(summary, ofSteps);
  const partsBefore = partsOf(before, ofSteps);
  let offset = 0;
  return slicesOf(summary, ofSteps).map((slice) => {
    const name = slice.name ?? "";
    const part = parts.get(name) ?? 0;
    const row = { ...slice, name, part, offset, before: before && (partsBefore.get(name) ?? 0) };
    offset += part;
    return row;
  });
}

function timeText(slice: WaterfallSlice): string {
  return slice.time_per_step_ns === undefined ? format.time(slice.time_ns)
    : `${format.time(slice.time_per_step_ns)} a step`;
}

// What lies in no step.
function Outside({ summary }: { summary: Summary }) {
  const slices = (summary.waterfall?.slices ?? [])
    .filter((slice) => slice.steady_state_share === undefined);
  if (slices.length === 0) return null;
  return (
    <p class="note outside">Of the whole run, outside of that:{" "}
      {slices.map((slice) => `${slice.name} ${format.share(slice.share)} (${format.time(slice.time_ns)})`)
        .join("; ")}.</p>
  );
}

function Bar({ row }: { row: Row }) {
  const width = `${Math.max(0.15, row.part * 100)}%`;
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
  const ofSteps = isOfSteps(summary) && (!before || isOfSteps(before));
  const rows = rowsOf(summary, before, ofSteps);
  if (rows.length === 0) return null;
  const note = `From all that the GPU could have done in ${ofSteps ? "the steps" : "this time"} ` +
    "down to what was useful. " +
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
              <span class="slice-name">{SHOWN[row.name] ?? row.name}</span>
              <Bar row={row} />
              <span class="slice-value">
                <b>{format.share(row.part)}</b>
                {" "}{timeText(row)}
                {row.before !== undefined && <small> was {format.share(row.before)}</small>}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {ofSteps && <Outside summary={summary} />}
    </Section>
  );
}
