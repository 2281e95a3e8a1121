// How far the places of bubbles may be wrong: the 95 % interval, cut where a logarithm ends.
import { NORMAL_95 } from "./format";
import { mayBeNone } from "./measured";
import type { Point, Scales } from "./roofline_scale";

interface Span { left: number; right: number; top: number; bottom: number }

const LARGEST = 0.95;  // of the value: the logarithm of nothing has no place

function relative(error: number | undefined, value: number | undefined): number {
  return error !== undefined && value ? Math.min(LARGEST, NORMAL_95 * error / value) : 0;
}

function spanOf({ kernel, intensity, rate }: Point, scales: Scales): Span {
  const ofFlops = relative(kernel.flops_error, kernel.flops);
  const ofX = Math.min(LARGEST, Math.hypot(ofFlops, relative(kernel.dram_bytes_error, kernel.dram_bytes)));
  const [left, right] = [1 - ofX, 1 + ofX].map((factor) => scales.x(intensity * factor));
  const [bottom, top] = [1 - ofFlops, 1 + ofFlops].map((factor) => scales.y(rate * factor));
  const [leftmost, rightmost] = scales.x.range();
  const [lowest, highest] = scales.y.range();
  return { left: Math.max(left, leftmost), right: Math.min(right, rightmost),
    top: Math.max(top, highest), bottom: Math.min(bottom, lowest) };
}

// A bubble at the most of its FLOPs may stand lower: with fewer, its intensity and its rate shrink
// alike. `least`: the share of them at which the line ends.
function slopeOf({ intensity, rate, radius }: Point, scales: Scales, least: number, gap: number): string {
  const [x, y] = [scales.x(intensity), scales.y(rate)];
  const left = Math.max(scales.x(intensity * least), scales.x.range()[0]);
  const bottom = Math.min(scales.y(rate * least), scales.y.range()[0]);
  const length = Math.hypot(x - left, bottom - y);
  if (length <= radius + gap) return "";
  const share = (radius + gap) / length;
  return `M${x + share * (left - x)},${y + share * (bottom - y)}L${left},${bottom}`;
}

const SHORT_SLOPE = 0.4;

// Of one kernel, all of it.
export function ErrorBars({ point, scales }: { point: Point; scales: Scales }) {
  if (mayBeNone(point.kernel)) {
    return <g class="errors"><path d={slopeOf(point, scales, 1 - LARGEST, 0)} /></g>;
  }
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
  if (mayBeNone(point.kernel)) return slopeOf(point, scales, SHORT_SLOPE, 1);
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
