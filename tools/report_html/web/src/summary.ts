// The data of the page: reports as JSON, and what a comparison found.
import type * as report from "./summary_types";

export type {
  Application, Bound, Capture, Clock, DataTypeFlops, Device, Family, Finding, Ladder, LadderRung,
  Owner, Owners, Phase, Rank, Slowdown, StepLevel, Steps, TimelineSeries, WaterfallSlice,
} from "./summary_types";

export type Kernel = report.Kernel & { id: number };
export type Summary = Omit<report.Summary, "kernels"> & { kernels: Kernel[] };

// Comparisons are of a kernel on all GPUs; a short name may end with one of them.
export function nameOnAllGpus(kernel: Kernel): string {
  return (kernel.short_name ?? "").replace(/, GPU \d+$/, "");
}

export interface Change {
  before?: number;
  after?: number;
  delta?: number;
  relative_delta?: number;
  error?: number;
  verdict: "unknown" | "no_difference" | "decrease" | "increase" | "appeared" | "gone";
}

export interface KernelChange {
  matched_by: "name_and_shape" | "name" | "role" | "nothing";
  name_before?: string;
  name_after?: string;
  shape_before?: string;
  shape_after?: string;
  time_ns: Change;
}

export interface Difference {
  verdict: string;
  different: boolean;
  per_step: boolean;
  caveats: string[];
  quantities: { name: string; unit: string; more_is_better: boolean; change: Change }[];
  slices: { name: string; time_ns: Change }[];
  kernels: KernelChange[];
}

export interface ReportData {
  summary: Summary;
  before?: Summary;
  difference?: Difference;
}

const LISTS = [
  "devices", "processes", "kernels", "copies", "nvtx", "findings", "alerts", "timeline", "kernel_activity",
  "communication", "families", "phases",
] as const;

function withLists(raw: Partial<Summary>): Summary {
  const summary = { ...raw } as Summary;
  for (const list of LISTS) {
    if (!Array.isArray(summary[list])) (summary[list] as unknown[]) = [];
  }
  summary.kernels.forEach((kernel, index) => { kernel.id ??= index; });
  return summary;
}

// Control characters and those that turn the direction of writing would let a name rearrange the
// text around it: they are shown as their numbers.
const UNPRINTABLE =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function printable(_: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  return value.replace(UNPRINTABLE,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

// Large data comes packed: { "deflate": base64 of a zlib stream }.
async function unpacked(text: string): Promise<string> {
  if (!text.startsWith('{"deflate":')) return text;
  const packed = (JSON.parse(text) as { deflate: string }).deflate;
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

async function jsonOf(id: string): Promise<unknown> {
  const text = document.getElementById(id)?.textContent?.trim() ?? "";
  if (text === "" || text.startsWith("__UTLZ_")) return undefined;
  return JSON.parse(await unpacked(text), printable);
}

export async function readReportData(): Promise<ReportData> {
  const before = await jsonOf("before") as Partial<Summary> | undefined;
  return {
    summary: withLists((await jsonOf("summary") ?? {}) as Partial<Summary>),
    before: before && withLists(before),
    difference: await jsonOf("difference") as Difference | undefined,
  };
}
