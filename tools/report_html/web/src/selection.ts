// What is selected, in one place: every view shows the same selection, and any view can change it.
import type { OwnerChoice } from "./owners/owner_kernels";
import type { Bound, Kernel, Summary } from "./summary";

export interface TimeWindow { start_ns: number; end_ns: number }

export interface Selection {
  kernels: ReadonlySet<number>;  // chosen one by one; empty = all
  bounds: ReadonlySet<Bound>;    // empty = all
  text: string;
  device?: string;               // uuid
  pid?: number;
  marker?: number;               // index into nvtx
  owner?: OwnerChoice;           // layer, line or operation
  slice?: string;                // waterfall slice that set the bounds
  window?: TimeWindow;           // since the run's start
}

export const NOTHING: Selection = { kernels: new Set(), bounds: new Set(), text: "" };

export type Change =
  | { kind: "kernel"; id: number; add: boolean }
  | { kind: "bound"; bound: Bound }
  | { kind: "slice"; name: string; bounds: Bound[] }
  | { kind: "text"; text: string }
  | { kind: "device"; uuid?: string }
  | { kind: "pid"; pid?: number }
  | { kind: "marker"; index?: number }
  | { kind: "owner"; owner?: OwnerChoice }
  | { kind: "window"; window?: TimeWindow }
  | { kind: "clear" };

function toggled<T>(set: ReadonlySet<T>, value: T): Set<T> {
  const result = new Set(set);
  if (!result.delete(value)) result.add(value);
  return result;
}

export function change(selection: Selection, what: Change): Selection {
  switch (what.kind) {
    case "kernel": {
      const alone = selection.kernels.size === 1 && selection.kernels.has(what.id);
      const kernels = what.add ? toggled(selection.kernels, what.id)
        : alone ? new Set<number>() : new Set([what.id]);
      return { ...selection, kernels };
    }
    case "bound":
      return { ...selection, bounds: toggled(selection.bounds, what.bound), slice: undefined };
    case "slice":
      return selection.slice === what.name
        ? { ...selection, slice: undefined, bounds: new Set() }
        : { ...selection, slice: what.name, bounds: new Set(what.bounds) };
    case "text": return { ...selection, text: what.text };
    case "device": return { ...selection, device: what.uuid };
    case "pid": return { ...selection, pid: what.pid };
    case "marker": return { ...selection, marker: what.index };
    case "owner": return { ...selection, owner: what.owner };
    case "window": return { ...selection, window: what.window };
    case "clear": return NOTHING;
  }
}

export function isEmpty(selection: Selection): boolean {
  return selection.kernels.size === 0 && selection.bounds.size === 0 && selection.text === "" &&
    selection.device === undefined && selection.pid === undefined &&
    selection.marker === undefined && selection.owner === undefined &&
    selection.window === undefined && !selection.slice;
}

function textMatches(kernel: Kernel, words: string[]): boolean {
  const text = `${kernel.short_name ?? ""} ${kernel.name ?? ""} ${kernel.mangled_name ?? ""} ` +
    `${kernel.variant_label ?? ""}`;
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
}

// Kernels that pass every filter but the choice of single kernels, which marks instead of hiding.
// `ofOwner`: those of the chosen owner, where one is chosen and its kernels are known.
export function filterKernels(summary: Summary, selection: Selection,
  ofOwner: ReadonlyMap<number, number> | undefined): Kernel[] {
  const words = selection.text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const ids = selection.marker === undefined
    ? undefined : summary.nvtx[selection.marker]?.kernel_ids;
  const inMarker = ids && new Set(ids);
  return summary.kernels.filter((kernel) =>
    (selection.bounds.size === 0 || selection.bounds.has(kernel.bound ?? "unknown")) &&
    (selection.device === undefined || kernel.device_uuid === selection.device) &&
    (selection.pid === undefined || (kernel.pids ?? []).includes(selection.pid)) &&
    (!inMarker || inMarker.has(kernel.id)) &&
    (!ofOwner || ofOwner.has(kernel.id)) &&
    (words.length === 0 || textMatches(kernel, words)));
}

// How long each kernel ran inside a window, for the kernels whose activity is known.
export function timeInWindow(summary: Summary, window: TimeWindow): Map<number, number> {
  const result = new Map<number, number>();
  for (const activity of summary.kernel_activity) {
    const interval = activity.interval_ns ?? 0;
    if (activity.kernel_id === undefined || interval <= 0) continue;
    let sum = 0;
    (activity.busy_share ?? []).forEach((busy, index) => {
      const start = (activity.start_ns ?? 0) + index * interval;
      const overlap = Math.min(start + interval, window.end_ns) - Math.max(start, window.start_ns);
      if (overlap > 0) sum += busy * overlap;
    });
    result.set(activity.kernel_id, (result.get(activity.kernel_id) ?? 0) + sum);
  }
  return result;
}

const SLICE_BOUNDS: [string, Bound[]][] = [
  ["communication", ["communication"]],
  ["memory-bound", ["memory"]],
  ["latency-bound", ["latency"]],
  ["compute-bound", ["compute"]],
  ["bound by neither", ["neither"]],
  ["without counters", ["unknown"]],
];

// Which kernels a slice of the waterfall is about; none where it is about time without kernels.
export function boundsOfSlice(name: string): Bound[] {
  return SLICE_BOUNDS.find(([word]) => name.includes(word))?.[1] ?? [];
}
