// How far the places of bubbles may be wrong: one standard error each way, cut where a logarithm
// ends.
import { mayBeNone } from "./measured";
import type { Point, Scales } from "./roofline_scale";

interface Span { left: number; right: number; top: number; bottom: number }

const LARGEST = 0.95;  // of the value: the logarithm of nothing has no place

function relative(error: number | undefined, value: number | undefined): number {
  return error !== undefined && value ? Math.min(LARGEST, error / value) : 0;
}

function spanOf({ kernel, intensity, rate }: Point, scales: Scales): Span {
  // A bubble at the most of its FLOPs may stand lower, and nowhere higher.
  const atMost = mayBeNone(kernel);
  const ofFlops = atMost ? LARGEST : relative(kernel.flops_error, kernel.flops);
  const ofBytes = relative(kernel.dram_bytes_error, kernel.dram_bytes);
  const ofX = Math.min(LARGEST, Math.hypot(ofFlops, ofBytes));
  const [left, right] = [1 - ofX, atMost ? 1 + ofBytes : 1 + ofX].map((factor) => scales.x(intensity * factor));
  const [bottom, top] = [1 - ofFlops, atMost ? 1 : 1 + ofFlops].map((factor) => scales.y(rate * factor));
  const [leftmost, rightmost] = scales.x.range();
  const [lowest, highest] = scales.y.range();
  return { left: Math.max(left, leftmost), right: Math.min(right, rightmost),
    top: Math.max(top, highest), bottom: Math.min(bottom, lowest) };
}

// Of one kernel, all of it.
export function ErrorBars({ point, scales }: { point: Point; scales: Scales }) {
  const { left, right, top, bottom } = spanOf(point, scales);
  const x = scales.x(point.intensity);
  const y = scales.y(point.rate);
  return (
    <g class="errors">
      {right > left && <line x1={left} x2={right} y1={y} y2={y} />}
      {bottom > top && <line x1={x} x2={x} y1={top} y2={bottom} />}
    </g>
  );
}

// What of it lies outside of the bubble: nothing where the bubble says more.
function outsideOf(point: Point, scales: Scales): string {
  const { left, right, top, bottom } = spanOf(point, scales);
  const x = scales.x(point.intensity);
  const y = scales.y(point.rate);
  const radius = point.radius + 1;
  const parts = [];
  if (left < x - radius) parts.push(`M${left},${y}H${x - radius}`);
  if (right > x + radius) parts.push(`M${x + radius},${y}H${right}`);
  if (top < y - radius) parts.push(`M${x},${top}V${y - radius}`);
  if (bottom > y + radius) parts.push(`M${x},${y + radius}V${bottom}`);
  return parts.join("");
}

const MANY = 150;  // bubbles lie over each other, and so do their bars

// Of all kernels, under their bubbles.
export function ErrorBarsOfAll({ points, scales }: { points: Point[]; scales: Scales }) {
  const path = points.map((point) => outsideOf(point, scales)).join("");
  return path ? <path class={points.length > MANY ? "spread many" : "spread"} d={path} /> : null;
}
