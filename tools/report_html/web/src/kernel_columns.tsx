import type { ComponentChildren } from "preact";
import { boundStyle } from "./bounds";
import type { Report } from "./context";
import { deviceLabelOf } from "./device_roofs";
import * as format from "./format";
import * as measured from "./measured";
import { nameOnAllGpus, type Kernel, type KernelChange } from "./summary";

export interface Column {
  id: string;
  title: string;
  hint: string;
  shown: boolean;  // at first
  value: (kernel: Kernel, report: Report) => number | string | undefined;
  cell?: (kernel: Kernel, report: Report) => ComponentChildren;
}

function changeOf(kernel: Kernel, report: Report): KernelChange | undefined {
  return report.changes.get(nameOnAllGpus(kernel));
}

function changeText(change: KernelChange | undefined): string {
  if (!change) return "–";
  const { verdict, relative_delta } = change.time_ns;
  if (verdict === "appeared") return "new";
  if (verdict === "no_difference") return "no difference";
  return format.signed(relative_delta, format.share);
}

function ShareBar({ value, text }: { value: number | undefined; text?: string }) {
  return (
    <>
      {text ?? format.share(value)}
      {value !== undefined && (
        <span class="meter" aria-hidden="true">
          <span style={{ width: `${Math.min(100, Math.max(0, value * 100))}%` }} />
        </span>
      )}
    </>
  );
}

const number = (id: string, title: string, hint: string, shown: boolean,
  value: Column["value"], text: (value: number | undefined) => string): Column =>
  ({ id, title, hint, shown, value,
    cell: (kernel, report) => text(value(kernel, report) as number | undefined) });

export const COLUMNS: Column[] = [
  { id: "gpu", title: "GPU", hint: "that it ran on, and by whose roof it is judged", shown: true,
    value: (kernel, report) => deviceLabelOf(report.summary, kernel) },
  { id: "bound", title: "bound", hint: "what limits it", shown: true,
    value: (kernel) => boundStyle(kernel.bound).label,
    cell: (kernel) => (
      <><i class="dot" style={{ background: boundStyle(kernel.bound).color }} />
        {boundStyle(kernel.bound).label}</>
    ) },
  { id: "savings", title: "savings", hint: "time over its roofline time", shown: true,
    value: (kernel) => kernel.estimated_savings_ns,
    cell: (kernel) => (
      <>{format.time(kernel.estimated_savings_ns)}
        <small>{format.plusMinus(kernel.estimated_savings_error_ns, format.time)}</small></>
    ) },
  number("efficiency", "of roof", "roofline time over time", true,
    (kernel) => kernel.roofline_efficiency, format.share),
  number("time", "time", "all launches", true, (kernel) => kernel.time_ns, format.time),
  { id: "time_share", title: "share", hint: "of all kernel time", shown: true,
    value: (kernel) => kernel.time_share, cell: (kernel) => <ShareBar value={kernel.time_share} /> },
  number("window", "in window", "time inside the chosen window", true,
    (kernel, report) => report.windowTime?.get(kernel.id), format.time),
  number("owner", "in the part", "of its launches in the whole run, those of the chosen layer, line or operation",
    true, (kernel, report) => report.ownerKernels?.time_ns.get(kernel.id), format.time),
  { id: "change", title: "change", hint: "of its time, against the run before", shown: true,
    value: (kernel, report) => changeOf(kernel, report)?.time_ns.delta,
    cell: (kernel, report) => changeText(changeOf(kernel, report)) },
  number("launches", "launches", "in the steps, if there are any; scaled to all of them", true, (kernel) => kernel.launches, format.count),
  number("mean", "mean", "one launch", true, (kernel) => kernel.time_mean_ns, format.time),
  number("p50", "median", "one launch", false, (kernel) => kernel.time_p50_ns, format.time),
  number("p99", "99 %", "one launch", false, (kernel) => kernel.time_p99_ns, format.time),
  { id: "flops", title: "FLOPs", hint: "all launches; < where they may be none", shown: false,
    value: (kernel) => kernel.flops, cell: measured.flops },
  { id: "flop_rate", title: "FLOP/s", hint: "executed; < where it may be none", shown: true,
    value: (kernel) => kernel.flops_per_second, cell: measured.flopRate },
  { id: "flop_share", title: "of peak", hint: "of its data types' peak at the clock seen", shown: true,
    value: (kernel) => kernel.flops_peak_share,
    cell: (kernel) =>
      <ShareBar value={measured.drawnFlopShare(kernel)} text={measured.flopShare(kernel)} /> },
  { id: "bytes", title: "DRAM bytes", hint: "read and written; < where they may be none",
    shown: false, value: (kernel) => kernel.dram_bytes, cell: measured.bytes },
  { id: "byte_rate", title: "bytes/s", hint: "DRAM; < where it may be none", shown: true,
    value: (kernel) => kernel.dram_bytes_per_second, cell: measured.byteRate },
  { id: "byte_share", title: "of HBM", hint: "of HBM's peak", shown: true,
    value: (kernel) => kernel.dram_peak_share,
    cell: (kernel) =>
      <ShareBar value={measured.drawnByteShare(kernel)} text={measured.byteShare(kernel)} /> },
  { id: "intensity", title: "FLOP/B", hint: "arithmetic intensity; < where it may be none",
    shown: false, value: (kernel) => kernel.arithmetic_intensity, cell: measured.intensity },
  { id: "source", title: "source", hint: "where the counters come from", shown: false,
    value: (kernel) => format.sourceText(kernel.flops_source ?? kernel.bytes_source) },
];

export function availableColumns(report: Report): Column[] {
  return COLUMNS.filter((column) =>
    (column.id !== "gpu" || report.summary.devices.length > 1) &&
    (column.id !== "window" || (report.windowTime?.size ?? 0) > 0) &&
    (column.id !== "owner" || report.ownerKernels !== undefined) &&
    (column.id !== "change" || report.difference !== undefined));
}

// Unknown numbers come last in either direction.
export function sortKernels(kernels: Kernel[], column: Column | undefined, descending: boolean,
  report: Report): Kernel[] {
  const value = (kernel: Kernel) => column ? column.value(kernel, report)
    : kernel.short_name ?? kernel.name;
  const sign = descending ? -1 : 1;
  return kernels.map((kernel) => ({ kernel, key: value(kernel) })).sort((a, b) => {
    if (a.key === undefined || b.key === undefined) {
      return Number(a.key === undefined) - Number(b.key === undefined);
    }
    return sign * (typeof a.key === "number" && typeof b.key === "number"
      ? a.key - b.key : String(a.key).localeCompare(String(b.key)));
  }).map(({ kernel }) => kernel);
}
