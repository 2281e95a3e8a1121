import { useMemo, useState } from "preact/hooks";
import { BOUNDS, boundStyle } from "./bounds";
import { useReport } from "./context";
import * as format from "./format";
import * as measured from "./measured";
import { KernelCard } from "./kernel_card";
import { BandwidthStrip } from "./bandwidth_strip";
import { allShareRoof, deviceLabel, deviceOf, deviceOfMostTime, shareRoof } from "./device_roofs";
import { ErrorBars, ErrorBarsOfAll } from "./roofline_errors";
import { Axes, CeilingLabels, Ceilings } from "./roofline_parts";
import { ceilingsOf, pointsOf, scalesOf, type Point } from "./roofline_scale";
import { Section } from "./section";
import { nameOnAllGpus, type Bound, type Device, type Kernel, type Summary } from "./summary";
import { useWidth } from "./width";

const MARGIN = { left: 62, right: 16, top: 14, bottom: 44 };
const LARGEST_RADIUS = 26;

function Legend({ maximum, attained, uncertain, bounds }:
  { maximum: boolean; attained: boolean; uncertain: boolean; bounds: Set<Bound> }) {
  return (
    <p class="legend">
      <span class="entry"><i class="line solid" />peak at the clock seen</span>
      {maximum && <span class="entry"><i class="line dashed" />at the highest clock</span>}
      {attained && <span class="entry"><i class="line dotted" />measured on this GPU</span>}
      <span class="entry"><i class="line spread" />± 95 %, beyond the bubble</span>
      {uncertain &&
        <span class="entry"><i class="uncertain" />at the most FLOPs that it may do: fewer lie on its line</span>}
      <span class="entry"><i class="bubble" />area: time; bound by</span>
      {BOUNDS.filter(({ bound }) => bounds.has(bound)).map(({ label, color }) => (
        <span class="bound-name"><i class="dot" style={{ background: color }} />{label} </span>
      ))}
    </p>
  );
}

// The arrow keys go through the bubbles by time, Enter chooses.
function nextPoint(points: Point[], active: number | undefined, key: string): number | undefined {
  const step = key === "ArrowRight" || key === "ArrowDown" ? 1
    : key === "ArrowLeft" || key === "ArrowUp" ? -1 : 0;
  if (step === 0 || points.length === 0) return undefined;
  const at = points.findIndex((point) => point.kernel.id === active);
  return points[at < 0 ? 0 : (at + step + points.length) % points.length].kernel.id;
}

function notDrawnNote(all: number, drawn: number, hiddenTime: number): string {
  if (all === drawn) return "";
  return ` ${format.count(all - drawn)} kernels (${format.share(hiddenTime)} of the kernel time ` +
    "shown) have no known FLOPs or bytes, and so no place under the roof.";
}

function underRoof(summary: Summary, device: Device | undefined): Kernel[] {
  return summary.kernels.filter((kernel) => {
    const its = deviceOf(summary, kernel);
    return !device || !its || shareRoof(device, its);
  });
}

// Whose roof is drawn, where there are several GPUs, and what stands under others.
function whoseRoofNote(summary: Summary, before: Summary | undefined, device: Device | undefined,
  elsewhere: number): string {
  const parts = [""];
  if (device && summary.devices.length > 1) parts.push(`The roof is GPU ${deviceLabel(summary, device)}'s.`);
  if (elsewhere > 0) {
    parts.push(`${format.counted(elsewhere, "kernel", "kernels")} of GPUs with other roofs: choose ` +
      "one of those to see them.");
  }
  if (before && device && !before.devices.every((other) => shareRoof(device, other))) {
    parts.push("The run before was on a GPU with another roof, which is not drawn.");
  }
  return parts.join(" ");
}

function RoofChooser({ summary, device, choose }:
  { summary: Summary; device: Device | undefined; choose: (device: Device) => void }) {
  return (
    <label class="roof-chooser">Roof of GPU{" "}
      <select value={device ? summary.devices.indexOf(device) : 0}
        onChange={(event) => choose(summary.devices[Number(event.currentTarget.value)])}>
        {summary.devices.map((one, index) => (
          <option value={index}>{deviceLabel(summary, one)}</option>
        ))}
      </select></label>
  );
}

export function Roofline() {
  const report = useReport();
  const { summary, before, selection, select, kernels, changes } = report;
  const [frame, width] = useWidth<HTMLDivElement>(900);
  const [active, setActive] = useState<number>();
  const [chosen, choose] = useState<Device>();
  const height = Math.min(520, Math.max(300, width * 0.55));
  const inner = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
  const placed = useMemo(() => pointsOf(summary.kernels, 1), [summary]);
  const usual = useMemo(
    () => deviceOfMostTime(summary, placed.map(({ kernel }) => kernel)), [summary, placed]);
  const device = summary.devices.find((one) => one.uuid === selection.device) ?? chosen ?? usual;
  const under = useMemo(() => underRoof(summary, device), [summary, device]);
  const ceilings = useMemo(() => ceilingsOf(device, under), [device, under]);
  const largest = Math.min(LARGEST_RADIUS, width / 28);
  const everyPoint = useMemo(() => pointsOf(under, largest), [under, largest]);
  const pointsBefore = useMemo(() => pointsOf(before?.kernels ?? [], largest), [before, largest]);
  const scales = useMemo(
    () => scalesOf([...everyPoint, ...pointsBefore], ceilings, inner.width, inner.height),
    [everyPoint, pointsBefore, ceilings, inner.width, inner.height]);
  const shown = useMemo(() => new Set(kernels.map((kernel) => kernel.id)), [kernels]);
  const points = everyPoint.filter((point) => shown.has(point.kernel.id));
  if (placed.length === 0) return null;

  const place = (point: Point) => ({ cx: scales.x(point.intensity), cy: scales.y(point.rate) });
  const hovered = everyPoint.find((point) => point.kernel.id === active);
  const marked = points.filter((point) => selection.kernels.has(point.kernel.id));
  const beforeByName = new Map(pointsBefore.map((point) => [point.kernel.short_name, point]));
  const drawnTime = points.reduce((sum, point) => sum + (point.kernel.time_ns ?? 0), 0);
  const isUnder = new Set(under.map((kernel) => kernel.id));
  const shownUnder = kernels.filter((kernel) => isUnder.has(kernel.id));
  const time = shownUnder.reduce((sum, kernel) => sum + (kernel.time_ns ?? 0), 0);

  const onKeyDown = (event: KeyboardEvent) => {
    const next = nextPoint(points, active, event.key);
    if (next !== undefined) {
      event.preventDefault();
      setActive(next);
    } else if ((event.key === "Enter" || event.key === " ") && active !== undefined) {
      event.preventDefault();
      select({ kind: "kernel", id: active, add: event.ctrlKey || event.metaKey });
    }
  };

  const bubble = (point: Point) => {
    const { id } = point.kernel;
    const faded = selection.kernels.size > 0 && !selection.kernels.has(id);
    return (
      <circle key={id} {...place(point)} r={point.radius} data-kernel={id}
        class={`kernel${measured.mayBeNone(point.kernel) ? " uncertain" : ""}${faded ? " faded" : ""}${
          selection.kernels.has(id) ? " chosen" : ""}`}
        fill={boundStyle(point.kernel.bound).color}
        stroke={measured.mayBeNone(point.kernel) ? boundStyle(point.kernel.bound).color : undefined}
        onMouseEnter={() => setActive(id)}
        onClick={(event) => select({ kind: "kernel", id, add: event.ctrlKey || event.metaKey })} />
    );
  };

  return (
    <Section id="roofline" title="Roofline"
      note={"Each bubble is a kernel: the further right, the more arithmetic it does for each byte; " +
        "the nearer to the roof, the less can be gained. Click one to see it everywhere." +
        notDrawnNote(shownUnder.length, points.length, time > 0 ? 1 - drawnTime / time : 0) +
        whoseRoofNote(summary, before, device, kernels.length - shownUnder.length)}>
      {!allShareRoof(summary.devices) && selection.device === undefined &&
        <RoofChooser summary={summary} device={device} choose={choose} />}
      <div class="roofline" ref={frame} onMouseLeave={() => setActive(undefined)}>
        <svg width={width} height={height} tabindex={0} role="group" onKeyDown={onKeyDown}
          aria-label="Roofline. The arrow keys go through the kernels, Enter chooses one.">
          <g transform={`translate(${MARGIN.left},${MARGIN.top})`}>
            <Axes scales={scales} width={inner.width} height={inner.height} />
            <Ceilings ceilings={ceilings} scales={scales} width={inner.width} height={inner.height} />
            {before && points.map((point) => {
              const all = nameOnAllGpus(point.kernel);
              const name = changes.get(all)?.name_before;
              const old = name === undefined ? undefined
                : beforeByName.get(name + (point.kernel.short_name ?? "").slice(all.length));
              return old && <g class="before">
                <line x1={scales.x(old.intensity)} y1={scales.y(old.rate)}
                  x2={scales.x(point.intensity)} y2={scales.y(point.rate)} />
                <circle {...place(old)} r={old.radius} />
              </g>;
            })}
            <ErrorBarsOfAll points={selection.kernels.size > 0 ? marked : points} scales={scales} />
            {points.map(bubble)}
            <CeilingLabels ceilings={ceilings} scales={scales} width={inner.width}
              height={inner.height} />
            {[...marked, ...(hovered && shown.has(hovered.kernel.id) ? [hovered] : [])].map((point) => (
              <g class="marked">
                <ErrorBars point={point} scales={scales} />
                <circle {...place(point)} r={point.radius + 1.5} />
              </g>
            ))}
          </g>
        </svg>
        {hovered && <KernelCard kernel={hovered.kernel}
          left={MARGIN.left + scales.x(hovered.intensity)}
          top={MARGIN.top + scales.y(hovered.rate)} width={width} />}
      </div>
      <Legend maximum={ceilings.some((ceiling) => ceiling.style === "maximum")}
        attained={ceilings.some((ceiling) => ceiling.style === "attained")}
        uncertain={points.some((point) => measured.mayBeNone(point.kernel))}
        bounds={new Set(summary.kernels.map((kernel) => kernel.bound ?? "unknown"))} />
      <BandwidthStrip />
    </Section>
  );
}
