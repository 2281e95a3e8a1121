// A kernel's measured figures as text: see format.measured. Of what may be none only a most is
// known: its middle is never shown, and a most beyond the hardware's peak says nothing.
import * as format from "./format";
import type { Kernel } from "./summary";

type Text = (value?: number | null) => string;

interface Total { value?: number; error?: number; peak_share?: number }

const flopsOf = (kernel: Kernel): Total =>
  ({ value: kernel.flops, error: kernel.flops_error, peak_share: kernel.flops_peak_share });
const bytesOf = (kernel: Kernel): Total =>
  ({ value: kernel.dram_bytes, error: kernel.dram_bytes_error, peak_share: kernel.dram_peak_share });

function mayBeNothing({ value, error }: Total): boolean {
  const halfWidth = format.NORMAL_95 * (error ?? 0);
  return halfWidth > 0 && (value ?? 0) <= halfWidth;
}

// By how much more than its middle a total may be: 1 where it is exact.
function mostFactor({ value, error }: Total): number {
  return (value ?? 0) > 0 ? 1 + format.NORMAL_95 * (error ?? 0) / (value as number) : 1;
}

// Whether what is to be shown of a total, its most or itself at the least, is more than the
// hardware can do.
function isImpossible(total: Total): boolean {
  if (total.peak_share === undefined) return false;
  if (mayBeNothing(total)) return total.peak_share * mostFactor(total) > 1;
  return total.peak_share * (2 - mostFactor(total)) > 1;
}

// The error of a figure from that of the total that it is made of.
function scaledError(value: number | undefined, total: Total, kernel: Kernel,
  perTime: number): number | undefined {
  if (value === undefined || total.error === undefined) return undefined;
  if ((total.value ?? 0) > 0) return total.error * value / (total.value as number);
  return (kernel.time_ns ?? 0) > 0 ? total.error / (kernel.time_ns as number) * perTime : undefined;
}

function textOf(kernel: Kernel, value: number | undefined, total: Total, perTime: number,
  text: Text): string {
  // Nothing was counted, but something may have been: how much of a peak that is, nobody knows.
  const unknown = value === 0 && (total.error ?? 0) > 0 &&
    (perTime === 0 || total.peak_share !== undefined);
  if (unknown || isImpossible(total)) return format.plain(undefined);
  return format.measured(value, scaledError(value, total, kernel, perTime),
    (kernel.merged_with ?? []).length > 0, text);
}

const PER_SECOND = 1e9;

// Whether FLOPs are known by their most only.
export const mayBeNone = (kernel: Kernel) => mayBeNothing(flopsOf(kernel));
export const bytesMayBeNone = (kernel: Kernel) => mayBeNothing(bytesOf(kernel));

export const flopRate = (kernel: Kernel) =>
  textOf(kernel, kernel.flops_per_second, flopsOf(kernel), PER_SECOND, format.flopRate);
export const byteRate = (kernel: Kernel) =>
  textOf(kernel, kernel.dram_bytes_per_second, bytesOf(kernel), PER_SECOND, format.byteRate);
export const flopShare = (kernel: Kernel) =>
  textOf(kernel, kernel.flops_peak_share, flopsOf(kernel), 0, format.share);
export const byteShare = (kernel: Kernel) =>
  textOf(kernel, kernel.dram_peak_share, bytesOf(kernel), 0, format.share);
// Of FLOPs that may be none it says "less than", as their rate does.
export const intensity = (kernel: Kernel) =>
  textOf(kernel, kernel.arithmetic_intensity, flopsOf(kernel), 0, format.plain);
export const flops = (kernel: Kernel) =>
  textOf(kernel, kernel.flops, flopsOf(kernel), 0, format.flops);
export const bytes = (kernel: Kernel) =>
  textOf(kernel, kernel.dram_bytes, bytesOf(kernel), 0, format.bytes);

// A share that a bar can show: none where only its most is known.
export const drawnFlopShare = (kernel: Kernel) =>
  (mayBeNone(kernel) || isImpossible(flopsOf(kernel)) ? undefined : kernel.flops_peak_share);
export const drawnByteShare = (kernel: Kernel) =>
  (bytesMayBeNone(kernel) || isImpossible(bytesOf(kernel)) ? undefined : kernel.dram_peak_share);

// Where a kernel stands under the roof: at the most of its FLOPs where that is all that is known.
export function placeOf(kernel: Kernel): { intensity: number; rate: number } | undefined {
  const total = flopsOf(kernel);
  if (isImpossible(total)) return undefined;
  const factor = mayBeNothing(total) ? mostFactor(total) : 1;
  const place = { intensity: factor * (kernel.arithmetic_intensity ?? 0),
    rate: factor * (kernel.flops_per_second ?? 0) };
  return place.intensity > 0 && place.rate > 0 ? place : undefined;
}
