// The report's data: proto/summary.proto as JSON. What is absent is unknown, never zero.

export type Bound = "unknown" | "compute" | "memory" | "latency" | "communication" | "neither";
export type Source =
  | "unknown" | "time_only" | "formula" | "gpm" | "sampled" | "calibrated" | "range";

export interface DataTypeFlops {
  data_type?: string;
  flops?: number;
  flops_error?: number;
  flops_error_assumed?: number;
  source?: Source;
  assumed?: boolean;
}

export interface Kernel {
  id: number;
  name?: string;
  short_name?: string;
  mangled_name?: string;
  grid?: number[];
  block?: number[];
  cluster?: number[];
  registers_per_thread?: number;
  shared_bytes?: number;
  graph?: boolean;
  graph_nodes?: number;
  kind_label?: string;
  folded?: string[];
  device_uuid?: string;
  pids?: number[];
  launches?: number;
  launches_traced?: number;
  launches_timeless?: number;
  time_ns?: number;
  time_error_ns?: number;
  time_share?: number;
  time_mean_ns?: number;
  time_p50_ns?: number;
  time_p99_ns?: number;
  time_minimum_ns?: number;
  time_maximum_ns?: number;
  flops?: number;
  flops_error?: number;
  flops_error_assumed?: number;
  flops_by_type?: DataTypeFlops[];
  dram_read_bytes?: number;
  dram_write_bytes?: number;
  dram_bytes?: number;
  dram_bytes_error?: number;
  dram_bytes_error_assumed?: number;
  l2_bytes?: number;
  arithmetic_intensity?: number;
  flops_per_second?: number;
  dram_bytes_per_second?: number;
  flops_peak_share?: number;
  dram_peak_share?: number;
  sm_active_share?: number;
  tensor_active_share?: number;
  bound?: Bound;
  roofline_time_ns?: number;
  roofline_efficiency?: number;
  recoverable_time_ns?: number;
  recoverable_time_error_ns?: number;
  recoverable_time_error_assumed_ns?: number;
  flops_source?: Source;
  bytes_source?: Source;
  withheld?: string;
  communication?: boolean;
}

export interface Peak {
  data_type?: string;
  flops_per_second?: number;
  flops_per_second_maximum_clock?: number;
  attained_flops_per_second?: number;
  source?: string;
}

export interface Device {
  uuid?: string;
  name?: string;
  pci_bus?: string;
  chip?: string;
  multiprocessors?: number;
  memory_bytes?: number;
  window_ns?: number;
  gpu_busy_share?: number;
  kernel_time_ns?: number;
  idle_time_ns?: number;
  sm_active_share?: number;
  tensor_active_share?: number;
  hbm_bandwidth_share?: number;
  efficiency_score?: number;
  hfu?: number;
  hfu_error?: number;
  hfu_error_assumed?: number;
  flops?: number;
  dram_read_bytes?: number;
  dram_write_bytes?: number;
  dram_bytes_error?: number;
  flops_per_second?: number;
  dram_bytes_per_second?: number;
  run_window_ns?: number;
  run_gpu_busy_share?: number;
  run_hfu?: number;
  overlap_share?: number;
  overlapping_processes?: number;
  mps?: boolean;
  ceilings_time_ns?: number;
  source?: Source;
  source_reason?: string;
  source_remedy?: string;
  attributed_bytes_share?: number;
  idle_bytes_share?: number;
  unattributed_bytes_share?: number;
  sm_clock_hz?: number;
  sm_clock_before_hz?: number;
  sm_clock_after_hz?: number;
  sm_clock_maximum_hz?: number;
  peak_dram_bytes_per_second?: number;
  attained_dram_bytes_per_second?: number;
  peak_l2_bytes_per_second?: number;
  peaks?: Peak[];
  energy_joules?: number;
  power_watts?: number;
  temperature_celsius_max?: number;
  memory_used_bytes_max?: number;
  clock_limits?: string[];
  nvidia_smi_busy_share?: number;
  roofline_time_ns?: number;
  recoverable_time_ns?: number;
}

export interface Process {
  pid?: number;
  command?: string;
  rank?: number;
  launches?: number;
  launches_dropped?: number;
  kernel_time_ns?: number;
  end?: string;
  agent?: string;
  agent_cost_share?: number;
  devices?: string[];
}

export interface Copy {
  kind?: string;
  pageable?: boolean;
  copies?: number;
  time_ns?: number;
  bytes?: number;
  bytes_per_second?: number;
  exposed_ns?: number;
  device_uuid?: string;
}

export interface Marker {
  domain?: string;
  name?: string;
  count?: number;
  time_ns?: number;
  launches?: number;
  kernel_time_ns?: number;
  flops?: number;
  dram_bytes?: number;
  kernel_ids?: number[];
}

export interface Capture {
  rung?: Source;
  rung_reason?: string;
  rung_remedy?: string;
  [name: string]: number | string | undefined;
}

export interface Slice {
  name?: string;
  time_ns?: number;
  share?: number;
  meaning?: string;
  window_share?: number;      // of slices that lie in the steady part
  time_per_step_ns?: number;
}

// The steady part of the run, which shares and findings speak of.
export interface Window {
  of?: string;
  start_ns?: number;
  end_ns?: number;
  time_ns?: number;
  pause_time_ns?: number;
  pauses?: number;
}

export interface Steps {
  source?: string;
  steps?: number;
  warmup_steps?: number;
  slowdown_time_ns?: number;
  pause_time_ns?: number;
  slowdown_error_ns?: number;
  time_mean_ns?: number;
  time_p50_ns?: number;
  time_p99_ns?: number;
  time_ns?: number[];
  start_ns?: number[];
  slow?: number[];
  slow_reason?: string[];
  kernel_time_ns?: number;
  launches?: number;
  time_minimum_ns?: number;
  time_maximum_ns?: number;
  levels?: StepLevel[];  // outermost first
  level?: string;        // that the steps are of
}

export interface StepLevel {
  name?: string;
  count?: number;
  inner?: number;        // of the next level, in one
  launches?: number;
  time_mean_ns?: number;
  time_p50_ns?: number;
}

export interface Finding {
  rule?: string;
  title?: string;
  evidence?: string;
  advice?: string;
  gain_ns?: number;
  gain_per_step_ns?: number;
  gain_share?: number;
  gain_error_ns?: number;
  below_threshold?: boolean;  // it alone would change little
  title_short?: string;
  type_this?: string;
}

// What one unit of work takes now, and what it would take if one loss after another were gone.
export interface Ladder {
  unit?: string;
  rungs?: Rung[];
  time_kept_ns?: number;
}

export interface Rung {
  name?: string;
  text?: string;
  time_ns?: number;
  time_error_ns?: number;
  speedup?: number;
}

// Kernels (and copies) that do the same kind of work.
export interface Family {
  family?: string;
  time_ns?: number;
  time_per_step_ns?: number;
  time_share?: number;
  dram_bytes_per_second?: number;
  dram_peak_share?: number;
  recoverable_time_ns?: number;
  recoverable_time_per_step_ns?: number;
  time_without_counters_ns?: number;
}

export interface Alert {
  name?: string;
  text?: string;
  value?: number;
  limit?: number;
  device_uuid?: string;
}

export interface Efficiency {
  steps_per_second?: number;
  items_per_second?: number;
  items_per_joule?: number;
  item_name?: string;
  cost_idle_per_hour?: number;
  cost_lost_per_hour?: number;
  hfu?: number;
  hfu_error?: number;
  hfu_error_assumed?: number;
  hfu_maximum_clock?: number;
  mfu?: number;
  mfu_maximum_clock?: number;
  model_flops_per_step?: number;
  tokens_per_second?: number;
  attainable_hfu?: number;
  attainable_hfu_measured?: number;
  executed_flops_per_step?: number;
  gap?: FlopsGap[];
  model_note?: string;
  joules_per_step?: number;
  flops_per_joule?: number;
  tokens_per_joule?: number;
  cost_per_step?: number;
  cost_lost?: number;
  price_per_hour?: number;
  mfu_note?: string;
  gap_note?: string;
}

export interface FlopsGap {
  name?: string;
  flops_per_step?: number;
  share?: number;
  meaning?: string;
}

export interface Series {
  name?: string;
  device_uuid?: string;
  start_ns?: number;
  interval_ns?: number;
  value?: (number | null)[];
  unit?: string;
}

export interface KernelActivity {
  kernel_id?: number;
  start_ns?: number;
  interval_ns?: number;
  busy_share?: number[];
}

export interface Communication {
  collective?: string;
  launches?: number;
  time_ns?: number;
  exposed_ns?: number;
  bytes?: number;
  bus_bytes_per_second?: number;
  size_note?: string;
  algorithm_bytes_per_second?: number;
  sized_launches?: number;
  sizes?: CollectiveSize[];
}

export interface CollectiveSize {
  ranks?: number;
  launches?: number;
  bytes?: number;
  time_ns?: number;
  algorithm_bytes_per_second?: number;
  bus_bytes_per_second?: number;
}

export interface Memory {
  used_bytes_max?: number;
  growth_bytes_per_second?: number;
  growth_bytes_per_step?: number;
  headroom_bytes?: number;
  leak_suspected?: boolean;
  source?: string;
  pool_used_bytes_max?: number;
  pool_reserved_bytes_max?: number;
}

export interface Clock {
  host?: string;
  shift_ns?: number;
  shift_error_ns?: number;
  drift_ppm?: number;
  span_ns?: number;
  collectives?: number;
  note?: string;
}

export interface Rank {
  rank?: number;
  host?: string;
  pid?: number;
  source_index?: number;
  collectives?: number;
  last_in?: number;
  waited_for_ns?: number;
  waiting_ns?: number;
  straggler?: boolean;
}

export interface Ranks {
  clocks?: Clock[];
  ranks?: Rank[];
  collectives?: number;
  verdict?: string;
}

export interface Run {
  command?: string[];
  host?: string;
  start_time_ns?: number;
  wall_ns?: number;
  exit_status?: number;
  signal?: number;
  utlz_version?: string;
  driver_version?: string;
  recording?: boolean;
  recording_note?: string;
  notices?: string[];
  finished?: boolean;
  attached?: boolean;
}

export interface Summary {
  schema?: string;
  run?: Run;
  devices: Device[];
  processes: Process[];
  kernels: Kernel[];
  copies: Copy[];
  nvtx: Marker[];
  capture?: Capture;
  window?: Window;
  waterfall?: { total_ns?: number; slices?: Slice[] };
  steps?: Steps;
  findings: Finding[];
  alerts: Alert[];
  efficiency?: Efficiency;
  timeline: Series[];
  kernel_activity: KernelActivity[];
  communication: Communication[];
  memory?: Memory;
  ranks?: Ranks;
  ladder?: Ladder;
  families: Family[];
  problem?: string;
  trust?: string;
  verdict?: string;
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
  "communication", "families",
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
