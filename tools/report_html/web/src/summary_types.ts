// Made from proto/summary.proto by proto/schema/write_report_files.py.
// The report's data. What is absent is unknown, never zero.

export type CounterSource =
  "unknown" | "time_only" | "formula" | "gpm" | "sampled" | "calibrated" | "range";

export type Bound =
  "unknown" | "compute" | "memory" | "latency" | "communication" | "neither";

export interface Summary {
  schema?: string;
  run?: Run;
  devices: Device[];
  processes: Process[];
  kernels: Kernel[];
  copies: Copy[];
  nvtx: Marker[];
  streams: Stream[];
  capture?: Capture;
  waterfall?: Waterfall;
  steps?: Steps;
  findings: Finding[];
  efficiency?: Efficiency;
  timeline: TimelineSeries[];
  communication: Communication[];
  memory?: Memory;
  verdict?: string;
  kernel_activity: KernelActivity[];
  steady_state?: SteadyState;
  alerts: Alert[];
  alert_limits?: AlertLimits;
  ranks?: Ranks;
  ladder?: Ladder;
  families: Family[];
  problem?: string;
  trust?: string;
  known?: string;
  not_known?: string;
  next_command?: string;
  phases: Phase[];
  owners?: Owners;
  application?: Application;
  alarms: Alarm[];
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

export interface Device {
  uuid?: string;
  name?: string;
  pci_bus?: string;
  chip?: string;
  multiprocessors?: number;
  memory_bytes?: number;
  steady_state_ns?: number;
  gpu_busy_share?: number;
  kernel_time_ns?: number;
  copy_time_ns?: number;
  idle_time_ns?: number;
  sm_active_share?: number;
  tensor_active_share?: number;
  hbm_bandwidth_share?: number;
  efficiency_score?: number;
  hfu?: number;
  hfu_error?: number;
  flops?: number;
  flops_error?: number;
  dram_read_bytes?: number;
  dram_write_bytes?: number;
  dram_bytes_error?: number;
  source?: CounterSource;
  source_reason?: string;
  source_remedy?: string;
  attributed_bytes_share?: number;
  idle_bytes_share?: number;
  unattributed_bytes_share?: number;
  sm_clock_hz?: number;
  sm_clock_maximum_hz?: number;
  peak_dram_bytes_per_second?: number;
  peaks?: Peak[];
  energy_joules?: number;
  power_watts?: number;
  temperature_celsius_max?: number;
  memory_used_bytes_max?: number;
  clock_limits?: string[];
  nvidia_smi_busy_share?: number;
  roofline_time_ns?: number;
  estimated_savings_ns?: number;
  communication_time_ns?: number;
  exposed_communication_ns?: number;
  attained_dram_bytes_per_second?: number;
  peak_l2_bytes_per_second?: number;
  attained_roofline_time_ns?: number;
  ceilings_time_ns?: number;
  flops_per_second?: number;
  dram_bytes_per_second?: number;
  run_traced_ns?: number;
  run_gpu_busy_share?: number;
  run_hfu?: number;
  longest_idle_ns?: number;
  longest_idle_start_ns?: number;
  other_processes?: number;
  sm_clock_error_hz?: number;
  sm_clock_before_hz?: number;
  sm_clock_after_hz?: number;
  hfu_error_assumed?: number;
  flops_error_assumed?: number;
  dram_bytes_error_assumed?: number;
  overlap_share?: number;
  overlapping_processes?: number;
  mps?: boolean;
  unrecorded_work_share?: number;
}

export interface Peak {
  data_type?: string;
  flops_per_second?: number;
  flops_per_second_maximum_clock?: number;
  attained_flops_per_second?: number;
  source?: string;
}

export interface Process {
  pid?: number;
  parent_pid?: number;
  command?: string;
  rank?: number;
  cupti_version?: number;
  driver_version?: number;
  launches?: number;
  launches_untimed?: number;
  launches_dropped?: number;
  records_dropped_cupti?: number;
  kernel_time_ns?: number;
  wire_bytes?: number;
  wire_bytes_per_launch?: number;
  end?: string;
  lost_at_most_ns?: number;
  agent?: string;
  agent_cost_share?: number;
  first_time_ns?: number;
  last_time_ns?: number;
  devices?: string[];
  traced_ns?: number;
  source_index?: number;
  communication_time_ns?: number;
  collectives_matched?: number;
  collective_late_ns?: number;
  collective_last_share?: number;
  cupti_path?: string;
  job?: string;
  pod?: string;
  pod_namespace?: string;
  container?: string;
}

export interface Kernel {
  id?: number;
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
  variant_label?: string;
  merged_with?: string[];
  device_uuid?: string;
  pids?: number[];
  launches?: number;
  launches_traced?: number;
  launches_untimed?: number;
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
  flops_by_type?: DataTypeFlops[];
  dram_read_bytes?: number;
  dram_write_bytes?: number;
  dram_bytes?: number;
  dram_bytes_error?: number;
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
  estimated_savings_ns?: number;
  estimated_savings_error_ns?: number;
  flops_source?: CounterSource;
  bytes_source?: CounterSource;
  withheld_reason?: string;
  communication?: boolean;
  l2_bytes?: number;
  attained_roofline_time_ns?: number;
  flops_error_assumed?: number;
  dram_bytes_error_assumed?: number;
  estimated_savings_error_assumed_ns?: number;
  steady_state_share?: number;
  own_time_share?: number;
}

export interface DataTypeFlops {
  data_type?: string;
  flops?: number;
  flops_error?: number;
  source?: CounterSource;
  assumed?: boolean;
  flops_error_assumed?: number;
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

export interface Stream {
  pid?: number;
  context?: number;
  stream?: number;
  launches?: number;
  kernel_time_ns?: number;
}

export interface Capture {
  counter_source?: CounterSource;
  counter_source_reason?: string;
  counter_source_remedy?: string;
  coverage_share?: number;
  launches?: number;
  launches_dropped?: number;
  launches_untimed?: number;
  records_dropped?: number;
  samples?: number;
  samples_lost?: number;
  sample_interval_ns?: number;
  sampling_time_ns?: number;
  wire_bytes?: number;
  wire_bytes_per_launch?: number;
  frames_refused?: number;
  bytes_unreadable?: number;
  clock_shift_dram_ns?: number;
  clock_shift_sm_ns?: number;
  kernels_merged?: number;
  kernels_withheld?: number;
  ranges?: number;
  ranges_discarded?: number;
  sampler_cpu_share?: number;
  overhead_budget_share?: number;
  lost_at_most_ns?: number;
  launches_implausible?: number;
  kernel_time_without_counters_share?: number;
  samples_untraced?: number;
  measured_cost_share?: number;
  measured_cost_error_share?: number;
  measured_cost_windows?: number;
  steady_state_slowdown_share?: number;
  calibration_stall_ns?: number;
  copies_implausible?: number;
  samples_implausible?: number;
  presence_cost_share?: number;
  presence_cost_error_share?: number;
  records_ended_after_ns?: number;
  later_windows_cost_share?: number;
  steps_sampled_share?: number;
  slowdown?: Slowdown;
}

export interface Slowdown {
  share?: number;
  error_share?: number;
  measured?: boolean;
  over_budget?: boolean;
  tracing_share?: number;
  sampling_share?: number;
  presence_share?: number;
  start_and_end_share?: number;
  steps_share?: number;
  steps_error_share?: number;
}

export interface Waterfall {
  total_ns?: number;
  slices?: WaterfallSlice[];
}

export interface WaterfallSlice {
  name?: string;
  time_ns?: number;
  share?: number;
  meaning?: string;
  steady_state_share?: number;
  time_per_step_ns?: number;
}

export interface Steps {
  source?: string;
  steps?: number;
  warmup_steps?: number;
  time_mean_ns?: number;
  time_p50_ns?: number;
  time_p99_ns?: number;
  time_ns?: number[];
  start_ns?: number[];
  slow?: number[];
  kernel_time_ns?: number;
  launches?: number;
  slow_reason?: string[];
  idle_time_ns?: number;
  copy_time_ns?: number;
  warmup_time_ns?: number;
  device_uuid?: string;
  slowdown_time_ns?: number;
  slowdown_error_ns?: number;
  pause_time_ns?: number;
  levels?: StepLevel[];
  level?: string;
  traced_share?: number;
  after_traced?: number;
  time_minimum_ns?: number;
  time_maximum_ns?: number;
  held_up?: number[];
  held_up_time_ns?: number[];
  held_up_reason?: string[];
  expected?: number;
  expected_note?: string;
}

export interface StepLevel {
  name?: string;
  source?: string;
  count?: number;
  launches?: number;
  time_mean_ns?: number;
  time_p50_ns?: number;
  time_p99_ns?: number;
  inner?: number;
  prefill_time_ns?: number;
  prefills_traced?: number;
  decode_time_mean_ns?: number;
  cost?: number;
}

export interface Finding {
  rule?: string;
  title?: string;
  evidence?: string;
  advice?: string;
  gain_ns?: number;
  gain_per_step_ns?: number;
  gain_share?: number;
  below_threshold?: boolean;
  title_short?: string;
  type_this?: string;
  gain_error_ns?: number;
  gain_per_month?: number;
}

export interface Efficiency {
  hfu?: number;
  hfu_maximum_clock?: number;
  mfu?: number;
  mfu_maximum_clock?: number;
  model_flops_per_step?: number;
  tokens_per_second?: number;
  attainable_hfu?: number;
  joules_per_step?: number;
  flops_per_joule?: number;
  tokens_per_joule?: number;
  cost_per_step?: number;
  cost_lost?: number;
  price_per_hour?: number;
  mfu_note?: string;
  gap_note?: string;
  executed_flops_per_step?: number;
  gap?: FlopsGap[];
  attainable_hfu_measured?: number;
  model_flops_per_token?: number;
  tokens_per_step?: number;
  model_note?: string;
  peak_flops_per_second?: number;
  cost_per_token?: number;
  steps_per_second?: number;
  items_per_second?: number;
  items_per_joule?: number;
  item_name?: string;
  cost_per_item?: number;
  cost_idle_per_hour?: number;
  cost_lost_per_hour?: number;
  hfu_error?: number;
  hfu_error_assumed?: number;
}

export interface FlopsGap {
  name?: string;
  flops_per_step?: number;
  share?: number;
  meaning?: string;
}

export interface TimelineSeries {
  name?: string;
  device_uuid?: string;
  start_ns?: number;
  interval_ns?: number;
  value?: (number | null)[];
  unit?: string;
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
  total_bytes?: number;
  steps_to_full?: number;
  pool_used_bytes_max?: number;
  pool_reserved_bytes_max?: number;
  pool_used_growth_bytes_per_second?: number;
}

export interface KernelActivity {
  kernel_id?: number;
  start_ns?: number;
  interval_ns?: number;
  busy_share?: number[];
}

export interface SteadyState {
  scope?: string;
  start_ns?: number;
  end_ns?: number;
  time_ns?: number;
  pause_time_ns?: number;
  pauses?: number;
  slowdown_time_ns?: number;
  slowdown_error_ns?: number;
  held_up_time_ns?: number;
}

export interface Alert {
  name?: string;
  text?: string;
  value?: number;
  limit?: number;
  device_uuid?: string;
}

export interface AlertLimits {
  busy_high?: number;
  sm_active_low?: number;
  busy_some?: number;
  efficiency_low?: number;
  idle_seconds?: number;
  memory_full?: number;
  memory_growth?: number;
  temperature?: number;
  clock_low?: number;
}

export interface Ranks {
  clocks?: Clock[];
  ranks?: Rank[];
  collectives?: number;
  verdict?: string;
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

export interface Ladder {
  unit?: string;
  rungs?: LadderRung[];
  time_kept_ns?: number;
}

export interface LadderRung {
  name?: string;
  text?: string;
  time_ns?: number;
  time_error_ns?: number;
  speedup?: number;
}

export interface Family {
  family?: string;
  time_ns?: number;
  time_per_step_ns?: number;
  time_share?: number;
  launches_per_step?: number;
  flops_per_second?: number;
  dram_bytes_per_second?: number;
  dram_peak_share?: number;
  estimated_savings_ns?: number;
  estimated_savings_per_step_ns?: number;
  time_without_counters_ns?: number;
}

export interface Phase {
  name?: string;
  start_ns?: number;
  time_ns?: number;
  steps?: number;
  gpu_busy_share?: number;
}

export interface Owners {
  time_ns?: number;
  idle_time_ns?: number;
  line_share?: number;
  layer_share?: number;
  inferred_share?: number;
  ownerless_share?: number;
  layers?: Owner[];
  lines?: Owner[];
  operations?: Owner[];
  repeated_layers?: Owner[];
  note?: string;
  backward_share?: number;
  recomputation_share?: number;
  optimizer_share?: number;
  function_share?: number;
  autotuning_share?: number;
  steady_state_time_ns?: number;
  steady_state_line_share?: number;
  steady_state_layer_share?: number;
  steady_state_inferred_share?: number;
  steady_state_ownerless_share?: number;
}

export interface Owner {
  kind?: string;
  name?: string;
  model?: string;
  module_class?: string;
  file?: string;
  line?: number;
  function?: string;
  parent?: number;
  instances?: number;
  time_ns?: number;
  own_time_ns?: number;
  time_share?: number;
  launches?: number;
  own_launches?: number;
  idle_before_ns?: number;
  own_idle_before_ns?: number;
  idle_after?: string;
  flops?: number;
  flops_error?: number;
  own_flops?: number;
  dram_bytes?: number;
  dram_bytes_error?: number;
  own_dram_bytes?: number;
  time_without_counters_ns?: number;
  hfu?: number;
  bound?: Bound;
  estimated_savings_ns?: number;
  estimated_savings_error_ns?: number;
  inferred_time_ns?: number;
  own_kernel_ids?: number[];
  own_kernel_time_ns?: number[];
  own_kernels_left_out?: number;
  origin?: string;
  backward_time_ns?: number;
  own_backward_time_ns?: number;
  recomputation_time_ns?: number;
  own_recomputation_time_ns?: number;
  steady_state_share?: number;
  time_without_flops_ns?: number;
  idle_frames?: string[];
  idle_frame_ns?: number[];
  sampled_idle_ns?: number;
}

export interface Application {
  engine?: string;
  time_ns?: number;
  readings?: number;
  requests_per_second?: number;
  tokens_per_second?: number;
  prompt_tokens_per_second?: number;
  joules_per_token?: number;
  tokens_per_joule?: number;
  waiting_mean?: number;
  waiting_maximum?: number;
  first_token_p99_ns?: number;
  estimated_flops_per_second?: number;
  cost_per_token?: number;
}

export interface Alarm {
  name?: string;
  text?: string;
  start_ns?: number;
  raised_ns?: number;
  end_ns?: number;
  device_uuid?: string;
  pid?: number;
  rank?: number;
  value?: number;
  before?: number;
  collective?: string;
}
