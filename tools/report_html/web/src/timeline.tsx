import { useMemo } from "preact/hooks";
import { ActivityRows } from "./activity_rows";
import { Chart } from "./chart";
import { useReport } from "./context";
import * as format from "./format";
import { Section } from "./section";
import type { TimeWindow } from "./selection";
import type { Device, Summary, TimelineSeries } from "./summary";
import { useWidth } from "./width";

interface Lane { title: string; names: string[]; colors: string[] }

const LABELS: Record<string, string> = {
  gpu_busy: "GPU busy",
  sm_active: "SM active",
  tensor_active: "tensor active",
  dram_bytes_per_second: "read and written",
  dram_read_bytes_per_second: "read",
  dram_write_bytes_per_second: "written",
  power_watts: "drawn",
  memory_used_bytes: "used",
};

function labelOf(name: string): string {
  return LABELS[name] ?? name.replaceAll("_", " ");
}

// What is shown together; a series of another name gets a lane of its own.
const LANES: Lane[] = [
  { title: "SM and tensor active", names: ["gpu_busy", "sm_active", "tensor_active"],
    colors: ["var(--muted)", "var(--accent)", "var(--slice-useful)"] },
  { title: "HBM", names: ["dram_bytes_per_second", "dram_read_bytes_per_second",
    "dram_write_bytes_per_second"],
    colors: ["var(--bound-memory)", "var(--bound-memory)", "var(--bound-latency)"] },
  { title: "HBM active", names: ["dram_active"], colors: ["var(--bound-memory)"] },
  { title: "Power, as NVML reads it", names: ["power_watts"], colors: ["var(--warning)"] },
  { title: "SM clock, as NVML reads it", names: ["sm_clock_hz", "sm_clock_mhz"],
    colors: ["var(--slice-clock)", "var(--slice-clock)"] },
  { title: "Memory", names: ["memory_used_bytes"], colors: ["var(--bound-neither)"] },
];

function lanesOf(series: TimelineSeries[]): Lane[] {
  const known = new Set(LANES.flatMap((lane) => lane.names));
  const others = [...new Set(series.map((one) => one.name ?? ""))].filter((name) => !known.has(name));
  return [...LANES, ...others.map((name) =>
    ({ title: labelOf(name), names: [name], colors: ["var(--bound-neither)"] }))];
}

function isShare(series: TimelineSeries): boolean {
  return series.unit === "share" || (series.unit === undefined && /active|busy|share/.test(series.name ?? ""));
}

function valueText(series: TimelineSeries): (value: number) => string {
  if (isShare(series)) return format.share;
  if (series.unit === "percent") return (value) => `${format.plain(value)} %`;
  const name = series.name ?? "";
  if (series.unit === "byte/s" || series.unit === "B/s" || name.includes("bytes_per_second")) {
    return format.byteRate;
  }
  if (series.unit === "byte") return format.bytes;
  if (name.endsWith("_watts")) return (value) => format.withPrefix(value, "W");
  if (name.endsWith("_hz")) return (value) => format.withPrefix(value, "Hz");
  return (value) => format.withPrefix(value, series.unit ?? "");
}

function meanInWindow(series: TimelineSeries, low: number, high: number): number | undefined {
  const interval = series.interval_ns ?? 0;
  let sum = 0;
  let number = 0;
  (series.value ?? []).forEach((value, index) => {
    const at = (series.start_ns ?? 0) + (index + 0.5) * interval;
    if (typeof value === "number" && at >= low && at <= high) { sum += value; ++number; }
  });
  return number > 0 ? sum / number : undefined;
}

// The part of the run that verdict and shares speak of, where that is not all of it.
function steadyPart(summary: Summary): TimeWindow | undefined {
  const { scope, start_ns, end_ns } = summary.steady_state ?? {};
  return scope === "steps" && start_ns !== undefined && end_ns !== undefined
    ? { start_ns, end_ns } : undefined;
}

// What the figures at the top say of it too. A mean of the points that are drawn would be another
// number: samples are few, and not of each kernel alike.
const FIGURES: Record<string, keyof Device> = {
  gpu_busy: "gpu_busy_share",
  sm_active: "sm_active_share",
  tensor_active: "tensor_active_share",
  dram_active: "hbm_bandwidth_share",
  dram_bytes_per_second: "dram_bytes_per_second",
  power_watts: "power_watts",
};

function figureOf(device: Device | undefined, series: TimelineSeries): number | undefined {
  const field = FIGURES[series.name ?? ""];
  const value = field && device?.[field];
  return typeof value === "number" ? value : undefined;
}

function LaneChart({ lane, series, width, end, steady, device }:
  { lane: Lane; series: TimelineSeries[]; width: number; end: number; steady?: TimeWindow;
    device?: Device }) {
  const { selection, select, dark } = useReport();
  const { x, lines } = useMemo(() => {
    const longest = series.reduce((a, b) => ((b.value?.length ?? 0) > (a.value?.length ?? 0) ? b : a));
    const interval = longest.interval_ns ?? 1;
    const start = longest.start_ns ?? 0;
    return {
      x: (longest.value ?? []).map((_, index) => start + (index + 0.5) * interval),
      lines: series.map((one) => ({
        label: one.name ?? "",
        values: (longest.value ?? []).map((_, index) => {
          const at = start + (index + 0.5) * interval - (one.start_ns ?? 0);
          const value = one.value?.[Math.floor(at / (one.interval_ns ?? 1))];
          return typeof value === "number" && Number.isFinite(value) ? value : null;
        }),
        color: lane.colors[lane.names.indexOf(one.name ?? "")] ?? "var(--accent)",
      })),
    };
  }, [series]);
  const text = valueText(series[0]);
  const window = selection.window ?? steady ?? { start_ns: 0, end_ns: end };
  const xRange = useMemo<[number, number]>(() => [0, end], [end]);
  return (
    <div class="lane">
      <p class="lane-title">{lane.title} {series.map((one, index) => (
        <span><i class="dot" style={{ background: lines[index].color }} />
          {series.length > 1 && `${labelOf(one.name ?? "")} `}
          <b>{text((selection.window ? undefined : figureOf(device, one)) ??
            meanInWindow(one, window.start_ns, window.end_ns) ?? NaN)}</b> </span>
      ))}</p>
      <Chart label={`${lane.title} over time`} x={x} lines={lines} width={width} height={110}
        xText={format.axisTime} yText={text} xRange={xRange} yRange={isShare(series[0]) ? [0, 1] : undefined}
        group="timeline" dark={dark} band={selection.window}
        onSelect={(low, high) => select({ kind: "window",
          window: { start_ns: Math.max(0, low), end_ns: high } })} />
    </div>
  );
}

function shownDevice(summary: Summary, chosen: string | undefined): string | undefined {
  return chosen ?? summary.timeline[0]?.device_uuid;
}

export function Timeline() {
  const { summary, selection } = useReport();
  const [frame, width] = useWidth<HTMLDivElement>(900);
  const steady = steadyPart(summary);
  const device = shownDevice(summary, selection.device);
  const lanes = useMemo(() => {
    const own = summary.timeline.filter((one) =>
      one.device_uuid === device && (one.value?.length ?? 0) > 0);
    return lanesOf(own).map((lane) => ({ lane, series: lane.names.flatMap((name) =>
      own.filter((one) => (one.name ?? "") === name)) })).filter(({ series }) => series.length > 0);
  }, [summary, device]);
  const end = Math.max(0, ...summary.timeline.map((one) =>
    (one.start_ns ?? 0) + (one.interval_ns ?? 0) * (one.value?.length ?? 0)));
  if (lanes.length === 0) return null;
  return (
    <Section id="timeline" title="Over time"
      note={"Drag over a stretch to see only that time elsewhere; the numbers are " +
        (selection.window ? "means of what was read in that stretch." : steady
          ? `those of the steps, ${format.time(steady.start_ns)} to ${format.time(steady.end_ns)}.`
          : "those of the run.") +
        (summary.steps?.slowdown_time_ns && selection.window
          ? " They are as traced: the figures at the top leave out " +
          `the ${format.time(summary.steps.slowdown_time_ns)} a step that tracing added.` : "") +
        (summary.devices.length > 1 && !selection.device ? " One GPU is drawn; choose another above." : "")}>
      <div ref={frame}>
        {lanes.map(({ lane, series }) =>
          <LaneChart key={lane.title} lane={lane} series={series} width={width} end={end}
            steady={steady} device={summary.devices.find((one) => one.uuid === device)} />)}
        <ActivityRows width={width} end={end} />
      </div>
    </Section>
  );
}
