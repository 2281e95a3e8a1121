// A kernel's measured rates as text: see format.measured.
import * as format from "./format";
import type { Kernel } from "./summary";

type Text = (value?: number | null) => string;

// The error of a rate, or of a share of a peak, from the error of the total that it is made of.
function scaledError(value: number | undefined, total: number | undefined,
  error: number | undefined, kernel: Kernel, perTime: number): number | undefined {
  if (value === undefined || error === undefined) return undefined;
  if ((total ?? 0) > 0) return error * value / (total as number);
  return (kernel.time_ns ?? 0) > 0 ? error / (kernel.time_ns as number) * perTime : undefined;
}

function textOf(kernel: Kernel, value: number | undefined, total: number | undefined,
  error: number | undefined, perTime: number, text: Text): string {
  // Nothing was counted, but something may have been: how much of a peak that is, nobody knows.
  if (perTime === 0 && value === 0 && (error ?? 0) > 0) return format.plain(undefined);
  return format.measured(value, scaledError(value, total, error, kernel, perTime),
    (kernel.folded ?? []).length > 0, text);
}

const PER_SECOND = 1e9;

// Whether FLOPs are told by their most only.
export function mayBeNone(kernel: Kernel): boolean {
  const halfWidth = format.NORMAL_95 * (kernel.flops_error ?? 0);
  return halfWidth > 0 && (kernel.flops ?? 0) <= halfWidth;
}

export const flopRate = (kernel: Kernel) => textOf(kernel, kernel.flops_per_second, kernel.flops,
  kernel.flops_error, PER_SECOND, format.flopRate);
export const byteRate = (kernel: Kernel) => textOf(kernel, kernel.dram_bytes_per_second,
  kernel.dram_bytes, kernel.dram_bytes_error, PER_SECOND, format.byteRate);
export const flopShare = (kernel: Kernel) => textOf(kernel, kernel.flops_peak_share, kernel.flops,
  kernel.flops_error, 0, format.share);
export const byteShare = (kernel: Kernel) => textOf(kernel, kernel.dram_peak_share,
  kernel.dram_bytes, kernel.dram_bytes_error, 0, format.share);
// Of FLOPs that may be none it says "less than", as their rate does.
export const intensity = (kernel: Kernel) => textOf(kernel, kernel.arithmetic_intensity,
  kernel.flops, kernel.flops_error, 0, format.plain);
