// Kernels whose bytes are counted and whose FLOPs are not: they have no place under the roof, but
// their roof is the memory's bandwidth, and this is how near to it they are.
import { useMemo, useState } from "preact/hooks";
import { boundStyle } from "./bounds";
import { useReport } from "./context";
import { KernelCard } from "./kernel_card";
import { drawnByteShare, placeOf } from "./measured";
import type { Kernel } from "./summary";
import { useWidth } from "./width";

const MARGIN = { left: 62, right: 16 };
const HEIGHT = 74;
const AXIS = 30;
const LARGEST_RADIUS = 20;
const TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1];

interface StripPoint { kernel: Kernel; share: number; radius: number }

function stripPointsOf(kernels: Kernel[]): StripPoint[] {
  const drawn = kernels.filter((kernel) =>
    drawnByteShare(kernel) !== undefined && placeOf(kernel) === undefined);
  const longest = Math.max(1, ...drawn.map((kernel) => kernel.time_ns ?? 0));
  return drawn
    .map((kernel) => ({
      kernel,
      share: Math.min(1, Math.max(0, kernel.dram_peak_share ?? 0)),
      radius: Math.max(2.5, LARGEST_RADIUS * Math.sqrt((kernel.time_ns ?? 0) / longest)),
    }))
    .sort((a, b) => b.radius - a.radius);
}

function Scale({ x }: { x: (share: number) => number }) {
  return (
    <g class="axes" aria-hidden="true">
      {TICKS.map((share) => (
        <g transform={`translate(${x(share)},0)`}>
          <line y2={HEIGHT} />
          <text y={HEIGHT + 15} text-anchor={share === 1 ? "end" : "middle"}>{`${share * 100}\u00a0%`}</text>
        </g>
      ))}
    </g>
  );
}

export function BandwidthStrip() {
  const { kernels, summary, selection, select } = useReport();
  const [frame, width] = useWidth<HTMLDivElement>(900);
  const [active, setActive] = useState<number>();
  const all = useMemo(() => stripPointsOf(summary.kernels), [summary]);
  const shown = useMemo(() => new Set(kernels.map((kernel) => kernel.id)), [kernels]);
  if (all.length === 0) return null;
  const points = all.filter((point) => shown.has(point.kernel.id));
  const x = (share: number) => MARGIN.left + share * (width - MARGIN.left - MARGIN.right);
  const hovered = points.find((point) => point.kernel.id === active);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step !== 0 && points.length > 0) {
      event.preventDefault();
      const at = points.findIndex((point) => point.kernel.id === active);
      setActive(points[at < 0 ? 0 : (at + step + points.length) % points.length].kernel.id);
    } else if ((event.key === "Enter" || event.key === " ") && active !== undefined) {
      event.preventDefault();
      select({ kind: "kernel", id: active, add: event.ctrlKey || event.metaKey });
    }
  };
  return (
    <div class="strip" ref={frame} onMouseLeave={() => setActive(undefined)}>
      <h3>Not under the roof: share of HBM's bandwidth</h3>
      <svg width={width} height={HEIGHT + AXIS} tabindex={0} role="group" onKeyDown={onKeyDown}
        aria-label="Kernels that have no place under the roof, by their share of HBM's bandwidth. The arrow keys go through them, Enter chooses one.">
        <Scale x={x} />
        {points.map(({ kernel, share, radius }) => {
          const faded = selection.kernels.size > 0 && !selection.kernels.has(kernel.id);
          return (
            <circle key={kernel.id} data-strip={kernel.id} cx={x(share)} cy={HEIGHT / 2} r={radius}
              class={`kernel${faded ? " faded" : ""}`} fill={boundStyle(kernel.bound).color}
              onMouseEnter={() => setActive(kernel.id)}
              onClick={(event) => select({ kind: "kernel", id: kernel.id,
                add: event.ctrlKey || event.metaKey })} />
          );
        })}
        {points.filter((point) => point.kernel.id === active ||
          selection.kernels.has(point.kernel.id)).map(({ share, radius }) => (
          <g class="marked"><circle cx={x(share)} cy={HEIGHT / 2} r={radius + 1.5} /></g>
        ))}
      </svg>
      {hovered && <KernelCard kernel={hovered.kernel} left={x(hovered.share)} top={HEIGHT / 2 + 20}
        width={width} />}
    </div>
  );
}
