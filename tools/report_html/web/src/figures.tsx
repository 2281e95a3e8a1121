// The run in figures: how the GPU was used, what the program got done, energy and cost.
import { useReport } from "./context";
import * as format from "./format";
import { Section } from "./section";
import type { Device, Summary } from "./summary";

interface Figure { label: string; value: string; error: string; hint: string; before?: string }

// A mean over devices by how long each was watched; unknown where one device does not know it.
function deviceMean(summary: Summary, field: keyof Device): number | undefined {
  let sum = 0;
  let weight = 0;
  for (const device of summary.devices) {
    const value = device[field];
    if (typeof value !== "number") return undefined;
    const window = device.steady_state_ns ?? 1;
    sum += value * window;
    weight += window;
  }
  return weight > 0 ? sum / weight : undefined;
}

// Of one device: the errors of several have no common one in the summary.
function hbmError(summary: Summary): number | undefined {
  const [device, ...others] = summary.devices;
  const bytes = (device?.dram_read_bytes ?? 0) + (device?.dram_write_bytes ?? 0);
  if (others.length > 0 || device?.dram_bytes_error === undefined || !(bytes > 0)) return undefined;
  return device.dram_bytes_error / bytes * (device.hbm_bandwidth_share ?? 0);
}

// Where the samples say nothing of the steps, NVML does.
function bytesAreCounted(summary: Summary): boolean {
  return summary.devices.some((device) => device.dram_bytes_per_second !== undefined);
}

interface FigureRule {
  label: string | ((summary: Summary) => string);
  hint: string;
  read: (summary: Summary) => number | undefined;
  text: (value: number | undefined) => string;
  error?: (summary: Summary) => number | undefined;
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

const FIGURES: FigureRule[] = [
  { label: "GPU busy", hint: "some kernel or copy was on the GPU: what nvidia-smi calls utilization",
    read: (summary) => deviceMean(summary, "gpu_busy_share"), text: format.share },
  { label: "SM active", hint: "share of the multiprocessors that had work",
    read: (summary) => deviceMean(summary, "sm_active_share"), text: format.share },
  { label: "Tensor active", hint: "share of the tensor pipes' cycles that did work",
    read: (summary) => deviceMean(summary, "tensor_active_share"), text: format.share },
  { label: (summary) => bytesAreCounted(summary) ? "HBM bandwidth" : "HBM bandwidth, by NVML",
    hint: "bytes moved over what HBM could have moved",
    read: (summary) => deviceMean(summary, "hbm_bandwidth_share"), text: format.share,
    error: hbmError },
  { label: "HFU", hint: "FLOPs executed over what the GPU could have executed at the clock seen",
    read: (summary) => summary.efficiency?.hfu ?? deviceMean(summary, "hfu"), text: format.share,
    error: (summary) => summary.efficiency?.hfu_error ??
      (summary.devices.length === 1 ? summary.devices[0].hfu_error : undefined) },
  { label: "HFU at the rooflines", hint: "HFU if every kernel ran at its roofline",
    read: (summary) => summary.efficiency?.attainable_hfu, text: format.share },
  { label: "HFU at measured ceilings", hint: "the same under the ceilings that utlz calibrate measured",
    read: (summary) => summary.efficiency?.attainable_hfu_measured, text: format.share },
  { label: "MFU", hint: "the model's own FLOPs over what the GPU could have executed",
    read: (summary) => summary.efficiency?.mfu, text: format.preciseShare },
  { label: "Efficiency score", hint: "SM active over GPU busy",
    read: (summary) => deviceMean(summary, "efficiency_score"), text: format.share },
  { label: "Step", hint: "mean step after warm-up, pauses between steps left out",
    read: (summary) => summary.steps?.time_mean_ns, text: format.time },
  { label: "Steps", hint: "a second, pauses between steps left out",
    read: (summary) => summary.efficiency?.steps_per_second,
    text: (value) => format.withPrefix(value, "/s") },
  { label: "Tokens", hint: "a second",
    read: (summary) => summary.efficiency?.tokens_per_second,
    text: (value) => format.withPrefix(value, "/s") },
  { label: (summary) => capitalized(summary.efficiency?.item_name ?? "items"), hint: "a second",
    read: (summary) => summary.efficiency?.items_per_second,
    text: (value) => format.withPrefix(value, "/s") },
  { label: "SM clock", hint: "seen under load by counters",
    read: (summary) => deviceMean(summary, "sm_clock_hz"),
    text: (value) => format.withPrefix(value, "Hz") },
  { label: "Power", hint: "mean over what the figures are of",
    read: (summary) => deviceMean(summary, "power_watts"),
    text: (value) => format.withPrefix(value, "W") },
  { label: "Energy a step", hint: "joules, from NVML",
    read: (summary) => summary.efficiency?.joules_per_step,
    text: (value) => format.withPrefix(value, "J") },
  { label: "FLOPs per joule", hint: "executed",
    read: (summary) => summary.efficiency?.flops_per_joule,
    text: (value) => format.withPrefix(value, "FLOP/J") },
  { label: "Tokens a joule", hint: "tokens a second and watt",
    read: (summary) => summary.efficiency?.tokens_per_joule, text: format.plain },
  { label: (summary) => `${capitalized(summary.efficiency?.item_name ?? "items")} a joule`,
    hint: "a second and watt", read: (summary) => summary.efficiency?.items_per_joule,
    text: format.plain },
  { label: "Cost a step", hint: "at the price given for an hour",
    read: (summary) => summary.efficiency?.cost_per_step, text: format.price },
  { label: "Idle, an hour", hint: "of the price of an hour, while neither kernel nor copy ran",
    read: (summary) => summary.efficiency?.cost_idle_per_hour, text: format.price },
  { label: "Above the rooflines, an hour",
    hint: "of the price of an hour, for what kernels took beyond their rooflines",
    read: costAboveRooflines, text: format.price },
  { label: "Wall", hint: "from the command's start to its end",
    read: (summary) => summary.run?.wall_ns, text: format.time },
];

// A kernel at its roof loses nothing, also where it only moves bytes.
function costAboveRooflines(summary: Summary): number | undefined {
  const price = summary.efficiency?.price_per_hour;
  const rungs = summary.ladder?.rungs ?? [];
  const timeOf = (name: string) => rungs.find((rung) => rung.name === name)?.time_ns;
  const now = timeOf("now"), noIdle = timeOf("no_idle"), roofline = timeOf("at_roofline");
  if (price === undefined || !now || noIdle === undefined || roofline === undefined) return undefined;
  return price * Math.max(0, noIdle - roofline) / now;
}

function figuresOf(summary: Summary, before: Summary | undefined): Figure[] {
  return FIGURES.flatMap(({ label, hint, read, text, error }) => {
    const value = read(summary);
    if (value === undefined) return [];
    return [{ label: typeof label === "string" ? label : label(summary), hint, value: text(value),
      error: format.plusMinus(error?.(summary), text === format.share ? format.shareError : text), before: before && text(read(before)) }];
  });
}

// What part of the run the figures are of, where that is not all of it.
function WindowLine({ summary }: { summary: Summary }) {
  const window = summary.steady_state;
  if (window?.scope !== "steps") return null;
  const parts = [`Percentages cover the steps only: ${format.time(window.time_ns)} traced`];
  if (window.start_ns !== undefined && window.end_ns !== undefined) {
    parts[0] += ` of the time from ${format.time(window.start_ns)} to ${format.time(window.end_ns)}` +
      " of the run";
  }
  if ((window.pauses ?? 0) > 0) {
    parts.push(`without ${format.counted(window.pauses ?? 0, "pause", "pauses")} of ` +
      format.time(window.pause_time_ns));
  }
  const busy = deviceMean(summary, "run_gpu_busy_share");
  const hfu = deviceMean(summary, "run_hfu");
  if (busy !== undefined) {
    parts.push(`from the first to the last activity the GPU was busy ${format.share(busy)}` +
      (hfu === undefined ? "" : `, HFU ${format.share(hfu)}`));
  }
  return <p class="note">{parts.join("; ")}.</p>;
}

const WORTH_SAYING = 0.02;

function GapParts({ summary }: { summary: Summary }) {
  const gap = (summary.efficiency?.gap ?? [])
    .filter((part) => Math.abs(part.share ?? 0) >= WORTH_SAYING);
  if (gap.length === 0) return null;
  return (
    <ul class="note">
      {gap.map((part) => (
        <li title={part.meaning}>{part.name}: {format.share(part.share)} of the model's FLOPs
          {part.meaning && ` (${part.meaning})`}</li>
      ))}
    </ul>
  );
}

export function Figures() {
  const { summary, before } = useReport();
  const figures = figuresOf(summary, before);
  const { mfu_note: mfu, model_note: model, gap_note: gap } = summary.efficiency ?? {};
  if (figures.length === 0) return null;
  return (
    <Section id="figures" title="The run in figures">
      <WindowLine summary={summary} />
      <dl class="figures">
        {figures.map((figure) => (
          <div title={figure.hint}>
            <dt>{figure.label}</dt>
            <dd>{figure.value}{figure.error && <span class="error">{figure.error}</span>}
              {figure.before && <small>was {figure.before}</small>}</dd>
          </div>
        ))}
      </dl>
      {mfu && <p class="note">MFU: {mfu}</p>}
      {model && <p class="note">Model: {model}</p>}
      {gap && <p class="note">HFU and MFU: {gap}</p>}
      <GapParts summary={summary} />
    </Section>
  );
}
