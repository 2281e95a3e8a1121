import { useMemo } from "preact/hooks";
import { Chart } from "./chart";
import { useReport } from "./context";
import * as format from "./format";
import { Section } from "./section";
import type { Steps as StepsData } from "./summary";
import { useWidth } from "./width";

function sourceText(source: string | undefined): string {
  if (source === "nvtx") return "found by NVTX ranges";
  if (source === "graph") return "found by graph launches";
  if (source === "kernel") return "found by the kernel that --step-kernel names";
  return source === "pattern" ? "found in the repeating launches" : "";
}

function factsOf(steps: StepsData): string {
  return [
    `${format.count(steps.steps)} steps ${sourceText(steps.source)}`,
    steps.warmup_steps && `${format.count(steps.warmup_steps)} of warm-up left out`,
    `mean ${format.time(steps.time_mean_ns)}${steps.pause_time_ns ? " between pauses" : ""}`,
    `median ${format.time(steps.time_p50_ns)}`,
    `99 % ${format.time(steps.time_p99_ns)}${steps.pause_time_ns ? " with pauses" : ""}`,
    steps.launches !== undefined && `${format.count(steps.launches)} launches a step`,
    steps.kernel_time_ns !== undefined && `kernels ${format.time(steps.kernel_time_ns)} a step`,
  ].filter(Boolean).join(" · ");
}

// What is drawn is longer than what is said of it.
function slowdownText(steps: StepsData): string {
  if (!steps.slowdown_time_ns) return "";
  return ` Drawn as traced: tracing added ${format.time(steps.slowdown_time_ns)}${
    format.plusMinus(steps.slowdown_error_ns, format.time)} to each, which the mean and the ` +
    "quantiles leave out.";
}

// Steps of the warm-up may stand above the chart: they would press all others flat.
const HEADROOM = 1.15;

// What utlz itself did to steps is no news of the program: drawn above them, and left out of all
// figures.
function heldUpText(steps: StepsData): string {
  const held = steps.held_up ?? [];
  if (held.length === 0) return "";
  const time = (steps.held_up_time_ns ?? []).reduce((sum, each) => sum + each, 0);
  return ` utlz itself delayed ${format.counted(held.length, "step", "steps")} by ` +
    `${format.time(time)}, drawn dotted and left out of every figure: ` +
    `${steps.held_up_reason?.[0] ?? "it set counters"} (step ${held[0]}).`;
}

// Each step that utlz held up with the time that it took off it.
function heldUpLine(steps: StepsData | undefined, times: number[], length: number) {
  const held = steps?.held_up ?? [];
  if (held.length === 0) return undefined;
  const values: (number | null)[] = Array.from({ length }, () => null);
  held.forEach((step, index) => {
    if (times[step] === undefined) return;
    for (const beside of [step - 1, step + 1]) values[beside] ??= times[beside] ?? null;
    values[step] = times[step] + (steps?.held_up_time_ns?.[index] ?? 0);
  });
  return { label: "with utlz's own", values, color: "var(--muted)", dash: [2, 3] };
}

// A summary lists at most so many slow steps here; the chart marks them all.
const SLOW_LISTED = 5;

export function Steps() {
  const { summary, before, selection, select, dark } = useReport();
  const [frame, width] = useWidth<HTMLDivElement>(900);
  const steps = summary.steps;
  const times = steps?.time_ns ?? [];
  const { x, lines } = useMemo(() => {
    const old = before?.steps?.time_ns ?? [];
    const length = Math.max(times.length, old.length);
    const padded = (values: number[]) =>
      Array.from({ length }, (_, index) => values[index] ?? null);
    const own = { label: "step", values: padded(times), color: "var(--accent)" };
    const former = { label: "before", values: padded(old), color: "var(--muted)", dash: [4, 3] };
    const held = heldUpLine(steps, times, length);
    return { x: Array.from({ length }, (_, index) => index),
      lines: [own, ...(held ? [held] : []), ...(old.length > 0 ? [former] : [])] };
  }, [summary, before]);
  const yRange = useMemo<[number, number] | undefined>(() => {
    const held = (steps?.held_up ?? []).flatMap((step, index) =>
      (step < (steps?.warmup_steps ?? 0) ? []
        : [(times[step] ?? 0) + (steps?.held_up_time_ns?.[index] ?? 0)]));
    const usual = [held, times.slice(steps?.warmup_steps ?? 0),
      (before?.steps?.time_ns ?? []).slice(before?.steps?.warmup_steps ?? 0)].flat();
    return usual.length > 0 ? [0, HEADROOM * Math.max(...usual)] : undefined;
  }, [summary, before]);
  const starts = steps?.start_ns;
  const band = useMemo(() => {
    const window = selection.window;
    if (!window || !starts) return undefined;
    const inside = starts.flatMap((start, index) =>
      start < window.end_ns && start + (times[index] ?? 0) > window.start_ns ? [index] : []);
    return inside.length === 0 ? undefined
      : { start_ns: inside[0] - 0.5, end_ns: inside[inside.length - 1] + 0.5 };
  }, [selection.window, summary]);
  if (!steps || times.length === 0) return null;
  const selectSteps = (first: number, last: number) => {
    if (!starts || starts[first] === undefined || starts[last] === undefined) return;
    select({ kind: "window", window: { start_ns: starts[first],
      end_ns: starts[last] + (times[last] ?? 0) } });
  };
  return (
    <Section id="steps" title="Steps" note={factsOf(steps) +
      "." + slowdownText(steps) + heldUpText(steps) +
      (starts ? " Click a step or drag over several to see only their time elsewhere." : "")}>
      <div ref={frame}>
        <Chart label={`Step times: ${factsOf(steps)}`} x={x} lines={lines} width={width} height={190}
          points={times.length < 150} marks={steps.slow} dark={dark} band={band} yRange={yRange}
          xText={(value) => (Number.isInteger(value) ? String(value) : "")} yText={format.time}
          onClick={(index) => selectSteps(index, index)}
          onSelect={(low, high) => selectSteps(Math.max(0, Math.ceil(low)),
            Math.min(times.length - 1, Math.floor(high)))} />
      </div>
      {(steps.slow ?? []).length > 0 && (
        <ul class="slow">
          {(steps.slow ?? []).slice(0, SLOW_LISTED).map((step, index) => (
            <li><button type="button" onClick={() => selectSteps(step, step)}>Step {step}</button>
              {" "}{format.time(times[step])}
              {steps.slow_reason?.[index] && `: ${steps.slow_reason[index]}`}</li>
          ))}
        </ul>
      )}
    </Section>
  );
}
