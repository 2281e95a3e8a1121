import { useReport } from "./context";
import * as format from "./format";
import { Section } from "./section";
import type { Capture, Device, Slowdown as SlowdownParts } from "./summary";

type Rule = [field: keyof Capture, label: string, text: (value?: number) => string];

const RULES: Rule[] = [
  ["coverage_share", "of the run traced", format.share],
  ["launches", "launches", format.count],
  ["launches_dropped", "launches dropped", format.count],
  ["launches_untimed", "launches without a time", format.count],
  ["records_dropped", "records dropped by CUPTI", format.count],
  ["samples", "counter samples", format.count],
  ["samples_lost", "samples lost", format.count],
  ["sample_interval_ns", "sampling interval", format.time],
  ["sampling_time_ns", "sampling was on for", format.time],
  ["ranges", "calibration ranges", format.count],
  ["ranges_discarded", "ranges discarded", format.count],
  ["calibration_stall_ns", "held up by ranges, left out of steps", format.time],
  ["kernels_merged", "kernels merged", format.count],
  ["kernels_withheld", "kernels with counters withheld", format.count],
  ["kernel_time_without_counters_share", "of kernel time without counters", format.share],
  ["samples_untraced", "samples while launches were not traced", format.count],
  ["samples_implausible", "samples of more than the GPU can count", format.count],
  ["launches_implausible", "launches whose times cannot be true", format.count],
  ["copies_implausible", "copies whose times cannot be true", format.count],
  ["overhead_budget_share", "overhead budget", format.share],
  ["sampler_cpu_share", "of one CPU core, used by the sampler", format.share],
  ["wire_bytes", "bytes recorded", format.bytes],
  ["wire_bytes_per_launch", "bytes a launch", format.plain],
  ["clock_shift_dram_ns", "shift of DRAM samples", format.time],
  ["clock_shift_sm_ns", "shift of SM samples", format.time],
  ["frames_refused", "frames refused", format.count],
  ["bytes_unreadable", "unreadable at the end", format.bytes],
  ["lost_at_most_ns", "lost of a vanished process, at most", format.time],
];

// By how much utlz slowed the program: the same figure as everywhere in the report, and its parts.
function slowdownFacts(slowdown?: SlowdownParts): string[][] {
  if (slowdown === undefined) return [];
  const parts: [label: string, share?: number, error?: number][] = [
    [slowdown.measured ? "measured slowdown of the run" : "estimated slowdown of the run",
      slowdown.share, slowdown.error_share],
    ["estimated slowdown of the steps", slowdown.steps_share, slowdown.steps_error_share],
    [slowdown.measured ? "of the run, by tracing and sampling" : "of the run, by tracing",
      slowdown.tracing_share],
    ["of the run, by sampling", slowdown.sampling_share],
    ["of the run, by CUPTI's presence", slowdown.presence_share],
    ["of the run, at start and end", slowdown.start_and_end_share],
  ];
  return parts.filter(([, share]) => typeof share === "number" && share > 0).map(
    ([label, share, error]) => [label, format.share(share) + (error === undefined ? "" : ` ± ${format.shareError(error)}`)]);
}

function CaptureFacts({ capture }: { capture: Capture }) {
  const facts = RULES.flatMap(([field, label, text]) => {
    const value = capture[field];
    return typeof value === "number" ? [[label, text(value)]] : [];
  }).concat(slowdownFacts(capture.slowdown));
  return (
    <dl class="facts">
      {facts.map(([label, value]) => <div><dt>{label}</dt><dd>{value}</dd></div>)}
    </dl>
  );
}

const WORTH_SAYING = 0.02;

function Uncounted({ capture }: { capture: Capture }) {
  const share = capture.kernel_time_without_counters_share;
  if (typeof share !== "number" || share < WORTH_SAYING) return null;
  return (
    <p class="warning"><b>{format.share(share)} of the kernel time has no counters:</b>{" "}
      {whyUncounted(capture)}</p>
  );
}

function whyUncounted(capture: Capture): string {
  const { samples, samples_untraced: untraced, records_ended_after_ns: ended } = capture;
  // A longer run is recorded for no longer, and so is one that is recorded later.
  if (typeof ended === "number") {
    return "too few counter samples fell in these kernels while kernels were recorded, for " +
      `${format.time(ended)}. --later-windows=always or a larger --overhead-budget records for longer.`;
  }
  if (typeof untraced === "number" && typeof samples === "number" && 2 * untraced >= samples) {
    return `${format.count(untraced)} of the samples were taken while launches were not traced, ` +
      "or while kernels of several processes ran at once. A longer run or attachment, or a larger --overhead-budget, lets more of them meet.";
  }
  return "too few counter samples fell in these kernels; --delay skips start-up.";
}

const WORTH_SLOWDOWN = 0.05;

// Tracing slows the host: a GPU that waits for it waits longer.
function Slowdown({ capture }: { capture: Capture }) {
  const share = capture.steady_state_slowdown_share;
  if (typeof share !== "number" || share < WORTH_SLOWDOWN) return null;
  return (
    <p class="warning"><b>Tracing itself took an estimated {format.share(share)} of the time shown,</b>
      {" "}which is in its step times and idle shares; {Number(capture.measured_cost_windows) > 0
        ? "a longer run would measure it well enough to take it out."
        : "a run of some ten seconds under an --overhead-budget measures it and takes it out."}</p>
  );
}

function DeviceFacts({ device }: { device: Device }) {
  const facts: [string, string][] = [
    ["counters", format.sourceText(device.source)],
    ["bytes given to kernels", format.share(device.attributed_bytes_share)],
    ["bytes while idle", format.share(device.idle_bytes_share)],
    ["bytes given to nothing", format.share(device.unattributed_bytes_share)],
    ["SM clock before the first work", format.withPrefix(device.sm_clock_before_hz, "Hz")],
    ["SM clock under load", format.withPrefix(device.sm_clock_hz, "Hz")],
    ["SM clock after the last work", format.withPrefix(device.sm_clock_after_hz, "Hz")],
    ["highest SM clock", format.withPrefix(device.sm_clock_maximum_hz, "Hz")],
    ["clock held down by", (device.clock_limits ?? []).join(", ") || "–"],
    ["HBM peak", format.byteRate(device.peak_dram_bytes_per_second)],
    ["HBM measured", format.byteRate(device.attained_dram_bytes_per_second)],
    ["ceilings measured", device.ceilings_time_ns === undefined ? "–"
      : new Date(device.ceilings_time_ns / 1e6).toISOString().slice(0, 10)],
    ["utilization by NVML", format.share(device.nvidia_smi_busy_share)],
    ["highest temperature", device.temperature_celsius_max === undefined ? "–"
      : `${format.plain(device.temperature_celsius_max)} °C`],
    ["PCI", device.pci_bus ?? "–"],
    ["UUID", device.uuid ?? "–"],
  ];
  return (
    <article class="detail">
      <h3>{device.name ?? device.chip ?? "GPU"}</h3>
      {device.source_reason && <p>{device.source_reason} {device.source_remedy}</p>}
      <dl class="facts">
        {facts.filter(([, value]) => value !== "–")
          .map(([label, value]) => <div><dt>{label}</dt><dd>{value}</dd></div>)}
      </dl>
      {(device.peaks ?? []).length > 0 && (
        <div class="scroll"><table class="plain">
          <thead><tr><th>data type</th><th>peak at the clock seen</th><th>at the highest clock</th>
            <th>measured here</th><th class="text">source</th></tr></thead>
          <tbody>{(device.peaks ?? []).map((peak) => (
            <tr><th scope="row">{peak.data_type}</th>
              <td>{format.flopRate(peak.flops_per_second)}</td>
              <td>{format.flopRate(peak.flops_per_second_maximum_clock)}</td>
              <td>{format.flopRate(peak.attained_flops_per_second)}</td>
              <td class="text">{peak.source ?? "–"}</td></tr>
          ))}</tbody>
        </table></div>
      )}
    </article>
  );
}

function Methods() {
  return (
    <details class="methods">
      <summary>How these numbers are made</summary>
      <p>Times come from the driver's own records of each launch. Bytes and FLOPs come from device
        counters sampled every few microseconds and spread over the kernels that ran, so that the
        totals are kept; where ranges counted a kernel exactly, they calibrate it. Every number says
        where it comes from, and ± is the 95 % interval.</p>
      <p>Roofline time is the larger of FLOPs over the peak of their data types and bytes over HBM's
        bandwidth, at the clock that the counters saw. Estimated savings is what a kernel takes above
        that: no change of the kernel alone can gain more.</p>
      <p>A dash means unknown. Nothing that is unknown is shown as zero.</p>
    </details>
  );
}

export function CaptureQuality() {
  const { summary } = useReport();
  const capture = summary.capture;
  return (
    <Section id="capture" title="How well this was measured">
      {capture && <>
        <p><b>Numbers: {format.sourceText(capture.counter_source)}.</b> {capture.counter_source_reason} {capture.counter_source_remedy}</p>
        <Uncounted capture={capture} />
        <Slowdown capture={capture} />
        <CaptureFacts capture={capture} />
      </>}
      <div class="details">
        {summary.devices.map((device) => <DeviceFacts device={device} />)}
      </div>
      <Methods />
      <p class="muted">{[`utlz ${summary.run?.utlz_version ?? ""}`.trim(),
        summary.run?.driver_version && `driver ${summary.run.driver_version}`,
        summary.schema].filter(Boolean).join(" · ")}</p>
    </Section>
  );
}
