// Summaries of runs that never ran, in the form of `utlz report --format json`.

// A small generator with a seed, so that every run of the tests sees the same numbers.
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const H200 = {
  uuid: "GPU-00000000-1111-2222-3333-444444444444",
  name: "NVIDIA H200",
  pci_bus: "0000:3b:00.0",
  chip: "GH100",
  multiprocessors: 132,
  memory_bytes: 150e9,
  source: "calibrated",
  sm_clock_hz: 1.68e9,
  sm_clock_maximum_hz: 1.98e9,
  peak_dram_bytes_per_second: 4.8e12,
  attained_dram_bytes_per_second: 4.2e12,
  peak_l2_bytes_per_second: 1.1e13,
  clock_limits: ["SW power cap"],
  peaks: [
    { data_type: "bf16", flops_per_second: 9.08e14, flops_per_second_maximum_clock: 1.07e15,
      attained_flops_per_second: 7.6e14, source: "sm__ops_path_tensor" },
    { data_type: "fp16", flops_per_second: 9.08e14, flops_per_second_maximum_clock: 1.07e15 },
    { data_type: "tf32", flops_per_second: 4.54e14, flops_per_second_maximum_clock: 5.35e14 },
    { data_type: "fp32", flops_per_second: 5.68e13, flops_per_second_maximum_clock: 6.69e13 },
    { data_type: "fp64", flops_per_second: 2.84e13, flops_per_second_maximum_clock: 3.34e13 },
  ],
};

const KINDS = [
  { name: "nvjet_tst_256x128_64x4_bz_coopA_NTN", type: "bf16", intensity: 600, reach: 0.72 },
  { name: "flash_fwd_kernel<cutlass::bfloat16_t, 64, 128>", type: "bf16", intensity: 180, reach: 0.5 },
  { name: "vectorized_elementwise_kernel<4, GeluCUDAKernelImpl>", type: "fp32", intensity: 2, reach: 0.7 },
  { name: "layer_norm_kernel<float, c10::BFloat16>", type: "fp32", intensity: 1.4, reach: 0.55 },
  { name: "softmax_warp_forward<float, float, float, 10>", type: "fp32", intensity: 0.9, reach: 0.4 },
  { name: "reduce_kernel<512, 1, ReduceOp<float>>", type: "fp32", intensity: 0.25, reach: 0.2 },
  { name: "multi_tensor_apply_kernel<FusedAdamMathFunctor>", type: "fp32", intensity: 0.7, reach: 0.8 },
  { name: "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", communication: true },
  { name: "CatArrayBatchedCopy<OpaqueType<2>>", bandwidth: 0.6 },
];

function makeKernel(id, kind, next, steps) {
  const mean = (kind.communication ? 200e3 : 4e3 + 300e3 * next() ** 3);
  const launches = steps * Math.ceil(24 * next());
  const time = mean * launches;
  const kernel = {
    id, name: `void at::native::${kind.name}(args...)`, short_name: id < 9 ? kind.name : `${kind.name} [${id}]`,
    mangled_name: `_ZN2at6native${id}Ev`, grid: [132 * (1 + id % 7), 1, 1], block: [384, 1, 1],
    registers_per_thread: 168, shared_bytes: 227 * 1024, graph: id % 5 === 0, graph_nodes: 3,
    device_uuid: H200.uuid, pids: [4242], launches, launches_traced: launches, time_ns: time,
    time_error_ns: time * 0.002, time_mean_ns: mean, time_p50_ns: mean * 0.98, time_p99_ns: mean * 1.3,
    time_minimum_ns: mean * 0.8, time_maximum_ns: mean * 2, communication: kind.communication ?? false,
    bound: kind.communication ? "communication" : "unknown",
  };
  if (kind.bandwidth) {
    const rate = kind.bandwidth * H200.peak_dram_bytes_per_second * (0.5 + 0.5 * next());
    return { ...kernel, bound: "memory", dram_bytes_per_second: rate, dram_bytes: rate * time / 1e9,
      dram_peak_share: rate / H200.peak_dram_bytes_per_second };
  }
  if (!kind.type) return kernel;
  const peak = H200.peaks.find((one) => one.data_type === kind.type).flops_per_second;
  const intensity = kind.intensity * (0.5 + next());
  const roof = Math.min(peak, intensity * H200.peak_dram_bytes_per_second);
  const efficiency = Math.min(0.95, kind.reach * (0.4 + 0.8 * next()));
  const rate = roof * efficiency;
  const flops = rate * time / 1e9;
  const limit = roof < peak ? "memory" : "compute";
  return {
    ...kernel, flops, flops_error: flops * 0.03, dram_bytes: flops / intensity,
    dram_read_bytes: 0.6 * flops / intensity, dram_write_bytes: 0.4 * flops / intensity,
    dram_bytes_error: 0.05 * flops / intensity, arithmetic_intensity: intensity,
    flops_per_second: rate, dram_bytes_per_second: rate / intensity, flops_peak_share: rate / peak,
    dram_peak_share: rate / intensity / H200.peak_dram_bytes_per_second,
    bound: mean < 6e3 ? "latency" : efficiency > 0.5 ? limit : "neither",
    roofline_time_ns: time * efficiency, roofline_efficiency: efficiency,
    estimated_savings_ns: time * (1 - efficiency), estimated_savings_error_ns: time * 0.01,
    flops_source: "calibrated", bytes_source: "sampled",
    flops_by_type: [{ data_type: kind.type, flops, flops_error: flops * 0.03, source: "calibrated" }],
  };
}

function makeTimeline(next, wall) {
  const points = 500;
  const interval = wall / points;
  const series = (name, unit, level, spread) => ({
    name, unit, device_uuid: H200.uuid, start_ns: 0, interval_ns: interval,
    value: Array.from({ length: points }, (_, index) =>
      (index % 97 === 13 ? null : level * (1 - spread * next()) * (index % 50 < 6 ? 0.2 : 1))),
  });
  return [
    series("gpu_busy", "share", 0.99, 0.05), series("sm_active", "share", 0.9, 0.2),
    series("tensor_active", "share", 0.5, 0.4), series("dram_bytes_per_second", "byte/s", 2.4e12, 0.4),
    series("power_watts", "W", 690, 0.1), series("sm_clock_hz", "Hz", 1.75e9, 0.05),
  ];
}

function makeSteps(next, steps, mean) {
  const times = Array.from({ length: steps }, (_, index) =>
    mean * (index < 3 ? 2 : 1 + 0.03 * next()) * (index === 40 ? 1.6 : 1));
  let at = 0;
  const starts = times.map((time) => { const start = at; at += time; return start; });
  return {
    source: "nvtx", steps, warmup_steps: 3, time_mean_ns: mean * 1.02, time_p50_ns: mean * 1.015,
    time_p99_ns: mean * 1.6, time_ns: times, start_ns: starts, slow: [40],
    after_traced: 1, level: "step", levels: [
      { name: "call", count: 12, inner: steps / 12, time_mean_ns: 10 * mean },
      { name: "step", count: steps, inner: 22, launches: 461, time_mean_ns: mean * 1.02 },
      { name: "repetition", count: 22 * steps, launches: 20, time_p50_ns: mean / 24 }],
    slow_reason: ["waited 11 ms for the input pipeline"], kernel_time_ns: mean * 0.86, launches: 461,
  };
}

// Of each 1,000: its time, of it above the roof and without counters, and its rate of HBM's peak.
const FAMILIES = [["normalization", 450, 250, 45, 0.36], ["gemm", 250, 40, 0, 0.7],
  ["elementwise", 200, 20, 2, 0.87], ["copy", 92, 9, 60, 0.5], ["softmax", 8, 1, 0, 0.2]];

function makeFamilies(mean, steps) {
  return FAMILIES.map(([family, time, above, uncounted, share]) => ({
    family, time_share: time / 1000, time_ns: time / 1000 * mean * steps,
    time_per_step_ns: time / 1000 * mean, estimated_savings_ns: above / 1000 * mean * steps,
    estimated_savings_per_step_ns: above / 1000 * mean, dram_peak_share: share,
    time_without_counters_ns: uncounted / 1000 * mean * steps,
    dram_bytes_per_second: share * H200.peak_dram_bytes_per_second,
  }));
}

export function makeSummary({ kernels = 40, steps = 120, seed = 1, speed = 1 } = {}) {
  const next = random(seed);
  const mean = 29.7e6 * speed;
  const wall = mean * steps * 1.05;
  const list = Array.from({ length: kernels }, (_, id) =>
    makeKernel(id, KINDS[id % KINDS.length], next, steps));
  const total = list.reduce((sum, kernel) => sum + kernel.time_ns, 0);
  for (const kernel of list) kernel.time_share = kernel.time_ns / total;
  const slices = [
    ["start-up: before the first steady step", 0.02], ["idle: launch-bound", 0.06],
    ["idle: before an upload of input", 0.05], ["idle: other", 0.03], ["copies while no kernel ran", 0.01],
    ["exposed communication", 0.06], ["memory-bound kernels", 0.21],
    ["latency-bound kernels, low occupancy", 0.06], ["compute-bound kernels below their roof", 0.03],
    ["kernels bound by neither", 0.02], ["kernels without counters", 0.01],
    ["clock below maximum", 0.1], ["useful: FLOPs at peak", 0.34],
  ].map(([name, share]) => ({ name, share, time_ns: share * wall, meaning: `time in: ${name}` }));
  for (const slice of slices.slice(1)) {
    slice.steady_state_share = slice.share / 0.98;
    slice.time_per_step_ns = slice.steady_state_share * mean;
  }
  return {
    schema: "utlz.report/1",
    verdict: "The GPU was busy 97 % of the time and did 39 % of the FLOPs it could have done: " +
      "memory-bound kernels and the clock take the most.",
    run: { command: ["python", "train.py", "--layers", "12"], host: "node7", wall_ns: wall,
      start_time_ns: 1.76e18, utlz_version: "0.1.0", driver_version: "580.159", finished: true,
      exit_status: 0 },
    devices: [{ ...H200, steady_state_ns: wall, gpu_busy_share: 0.97, sm_active_share: 0.85,
      tensor_active_share: 0.35, hbm_bandwidth_share: 0.32, efficiency_score: 0.876, hfu: 0.39,
      hfu_error: 0.004, power_watts: 688, energy_joules: 2450, attributed_bytes_share: 0.96,
      idle_bytes_share: 0.01, unattributed_bytes_share: 0.03 }],
    processes: [{ pid: 4242, command: "python train.py", launches: 55320, end: "exit",
      agent: "traced", agent_cost_share: 0.004 }],
    kernels: list,
    copies: [{ kind: "host to device", pageable: true, copies: 240, time_ns: 9e6, bytes: 1e9,
      bytes_per_second: 1.1e10, exposed_ns: 4e6, device_uuid: H200.uuid }],
    nvtx: [
      { name: "forward", count: steps, time_ns: wall * 0.3, launches: 18000, kernel_time_ns: wall * 0.28,
        flops: 1e15, dram_bytes: 1e13, kernel_ids: [0, 1, 2, 3] },
      { name: "backward", count: steps, time_ns: wall * 0.6, launches: 30000 },
    ],
    capture: { counter_source: "calibrated", coverage_share: 1, launches: 55320, launches_dropped: 0,
      samples: 712345, samples_lost: 12, sample_interval_ns: 5000,
      overhead_budget_share: 0.01, clock_shift_dram_ns: -1000, clock_shift_sm_ns: -1100 },
    steady_state: { scope: "steps", start_ns: 0.02 * wall, end_ns: wall, time_ns: 0.98 * wall, pauses: 0,
      pause_time_ns: 0 },
    waterfall: { total_ns: wall, slices },
    steps: makeSteps(next, steps, mean),
    phases: [{ name: "start", start_ns: 0, time_ns: 0.015 * wall },
      { name: "loading", start_ns: 0.015 * wall, time_ns: 0.005 * wall },
      { name: "steps", start_ns: 0.02 * wall, time_ns: 0.98 * wall, steps }],
    problem: "memory-bound",
    trust: "78.9 % of the steps' time traced; 0.0 % of the kernel time without counters",
    ladder: { unit: "step", time_kept_ns: 0.2 * mean, rungs: [
      { name: "now", text: "as measured", time_ns: mean, speedup: 1 },
      { name: "no_idle", text: "the GPU never waits", time_ns: 0.86 * mean, speedup: 1 / 0.86 },
      { name: "at_roofline", text: "every kernel at its roofline", time_ns: 0.5 * mean,
        time_error_ns: 0.01 * mean, speedup: 2 },
      { name: "at_peak", text: "bytes cost nothing", time_ns: 0.3 * mean, speedup: 1 / 0.3 }] },
    families: makeFamilies(mean, steps),
    findings: [
      { rule: "memory-bound", title: "Elementwise kernels move data that fusion would keep on chip",
        evidence: "21 % of the time goes to kernels at 70 % of HBM bandwidth with 2 FLOP per byte.",
        advice: "Compile the model (torch.compile) or fuse by hand.", gain_per_step_ns: 3.1e6,
        gain_share: 0.104, gain_ns: 3.1e6 * steps, gain_error_ns: 0.31e6 * steps,
        title_short: "Fuse elementwise kernels", type_this: "model = torch.compile(model)" },
      { rule: "input", title: "The GPU waits for input", evidence: "5 % idle before the first copy of a step.",
        advice: "More loader workers, pinned memory.", gain_per_step_ns: 1.4e6, gain_share: 0.047 },
      { rule: "slow_pooling", title: "Pooling is slow", title_short: "Slow pooling",
        evidence: "pooling takes 2 %", advice: "Another layout.", below_threshold: true,
        gain_per_step_ns: 0.4e6, gain_share: 0.013, type_this: "x.contiguous()" },
    ],
    alerts: [{ name: "temperature", text: "temperature reached 88 °C (limit 85 °C)", value: 88,
      limit: 85, device_uuid: H200.uuid }],
    efficiency: { steps_per_second: 33.7, items_per_second: 2157, item_name: "images",
      price_per_hour: 4, hfu: 0.39, mfu: 0.36, attainable_hfu: 0.61, joules_per_step: 20.4,
      flops_per_joule: 5.2e11, tokens_per_second: 276000, mfu_note: "Model FLOPs given by the user." },
    timeline: makeTimeline(next, wall),
    kernel_activity: list.slice(0, 8).map((kernel) => ({ kernel_id: kernel.id, start_ns: 0,
      interval_ns: wall / 200, busy_share: Array.from({ length: 200 }, () => next() * 0.3) })),
    communication: [{ collective: "AllReduce", launches: 240, time_ns: 3e8, exposed_ns: 2e8,
      bytes: 5e10, algorithm_bytes_per_second: 1.67e11, bus_bytes_per_second: 3.1e11,
      sized_launches: 240, sizes: [
        { ranks: 16, launches: 200, bytes: 2.5e8, time_ns: 1.4e6, algorithm_bytes_per_second: 1.8e11,
          bus_bytes_per_second: 3.3e11 },
        { ranks: 16, launches: 40, bytes: 4096, time_ns: 2.1e4, algorithm_bytes_per_second: 1.9e8,
          bus_bytes_per_second: 3.6e8 }] }],
    memory: { used_bytes_max: 9.1e10, headroom_bytes: 5.9e10, source: "NVML: reserved by allocators" },
    ranks: {
      clocks: [{ host: "node7", shift_ns: 0, shift_error_ns: 0 },
        { host: "node8", shift_ns: 2.5e6, shift_error_ns: 4e3, drift_ppm: 1.2, collectives: 480 }],
      ranks: [{ rank: 1, host: "node8", pid: 4243, collectives: 480, last_in: 470,
        waited_for_ns: 2.4e8, waiting_ns: 1e6, straggler: true },
      { rank: 0, host: "node7", pid: 4242, collectives: 480, last_in: 10, waited_for_ns: 1e6,
        waiting_ns: 2.4e8, straggler: false }],
      collectives: 480, verdict: "Rank 1 (node8) is last into 98 % of the collectives.",
    },
  };
}

// Figures of an owner whose launches did `parts` of the kernels: [kernel id, share of its time].
function ownWork(summary, parts) {
  const sum = (field) => parts.reduce((all, [id, share]) =>
    all + share * (summary.kernels[id][field] ?? 0), 0);
  const own = { time_ns: sum("time_ns"), launches: sum("launches"), flops: sum("flops"),
    dram_bytes: sum("dram_bytes"), estimated_savings_ns: sum("estimated_savings_ns"),
    idle_before_ns: 0.02 * sum("time_ns"),
    time_without_counters_ns: parts.reduce((all, [id, share]) => all +
      (summary.kernels[id].flops === undefined ? share * summary.kernels[id].time_ns : 0), 0) };
  return { ...own, own_time_ns: own.time_ns, own_kernel_ids: parts.map(([id]) => id),
    own_kernel_time_ns: parts.map(([id, share]) => share * summary.kernels[id].time_ns) };
}

const ADDED = ["time_ns", "launches", "flops", "dram_bytes", "estimated_savings_ns", "idle_before_ns",
  "time_without_counters_ns"];

// Rows that come after the ones around them; figures of what is inside are added.
function asTree(rows, all) {
  for (const row of [...rows].reverse()) {
    for (const field of ADDED) if (row.parent !== undefined) rows[row.parent][field] += row[field];
  }
  for (const row of rows) {
    Object.assign(row, { time_share: row.time_ns / all, flops_error: 0.02 * row.flops,
      dram_bytes_error: 0.03 * row.dram_bytes, estimated_savings_error_ns: 0.01 * row.time_ns,
      hfu: 0.3, bound: row.parent === undefined ? "memory" : ["compute", "memory", "neither"][row.parent % 3] });
  }
  return rows;
}

// A model of two blocks with attention and a perceptron, as stacks of launches would show it.
export function withOwners(summary) {
  const row = (name, parent, parts, more = {}) =>
    ({ kind: "layer", model: "Gpt", name, parent, ...ownWork(summary, parts), ...more });
  const all = summary.kernels.reduce((sum, kernel) => sum + kernel.time_ns, 0);
  // The work of layers is of the eight kernels that take most time.
  const byTime = summary.kernels.map(({ id }) => id).sort((a, b) =>
    summary.kernels[b].time_ns - summary.kernels[a].time_ns);
  const [gemm, attention, shared, norm, head, first, optimizer, second, ...others] = byTime;
  const rest = [first, second, ...others].map((id) => [id, 1]);
  const layers = [row("Gpt", undefined, [[head, 1]], { module_class: "Gpt" }), row("blocks", 0, [])];
  for (const block of [0, 1]) {
    layers.push(row(`blocks.${block}`, 1, [[norm, 0.5]], { module_class: "Block" }));
    const at = layers.length - 1;
    layers.push(row(`blocks.${block}.attn`, at, [[attention, 0.5], [shared, 0.2]], { module_class: "Attention",
      idle_after: "train.py:88 step" }));
    layers.push(row(`blocks.${block}.mlp`, at, [[gemm, 0.5], [shared, 0.3]], { module_class: "Mlp" }));
  }
  const outside = { model: undefined, own_kernels_left_out: 3 };
  layers.push(row("(optimizer)", undefined, [[optimizer, 1]], { ...outside, kind: "optimizer" }));
  layers.push(row("(no stack)", undefined, rest, { ...outside, kind: "unknown" }));
  const line = (file, number, name, parts) => row(`${file.split("/").pop()}:${number} ${name}`,
    undefined, parts, { kind: "line", model: undefined, file, line: number, function: name });
  const lines = [line("/home/me/model.py", 41, "Attention.forward", [[attention, 1], [shared, 0.4]]),
    line("/home/me/model.py", 58, "Mlp.forward", [[gemm, 1], [shared, 0.6]]),
    line("/home/me/train.py", 88, "step", [[norm, 1], [head, 1], [optimizer, 1]])];
  lines.push(row("(no line)", undefined, rest, { ...outside, kind: "unknown" }));
  const operations = [
    row("add + native_layer_norm", undefined, [[shared, 1]], { origin: "kernel_name" }),
    row("gemm", undefined, byTime.filter((id) => id !== shared).map((id) => [id, 1]),
      { origin: "family" })].map((one) => ({ ...one, kind: "operation", model: undefined }));
  return { ...summary, owners: { time_ns: all, idle_time_ns: 0.02 * all, line_share: 0.81,
    layer_share: 0.78, inferred_share: 0, ownerless_share: 0.19, layers: asTree(layers, all),
    lines: asTree(lines, all), operations: asTree(operations, all) } };
}

const HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=2>" +
  "\u2028\u2029<!--<script>'\"`${window.hacked=3}&lt;__UTLZ_BEFORE__\u202e\u0000\u001b[31m";

// Every string is hostile.
export function makeHostile() {
  const poison = (value) => {
    if (typeof value === "string" && !["calibrated", "sampled", "exit", "nvtx", "kernel_name"].includes(value)) {
      return `${value}${HOSTILE}`;
    }
    if (Array.isArray(value)) return value.map(poison);
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, poison(part)]));
    }
    return value;
  };
  return poison(withOwners(makeSummary({ kernels: 20 })));
}

function changeOf(before, after) {
  const delta = after - before;
  const real = Math.abs(delta) > 0.02 * before;
  return { before, after, delta, relative_delta: delta / before, error: 0.005 * before,
    verdict: real ? (delta < 0 ? "decrease" : "increase") : "no_difference" };
}

export function makeComparison() {
  const before = makeSummary({ seed: 2, speed: 1.2 });
  const after = makeSummary({ seed: 3, speed: 1 });
  const kernels = after.kernels.map((kernel, index) => ({
    matched_by: "name_and_shape", name_before: before.kernels[index].short_name,
    name_after: kernel.short_name, time_ns: changeOf(before.kernels[index].time_ns, kernel.time_ns) }));
  kernels.push({ matched_by: "nothing", name_before: "old_kernel",
    time_ns: { before: 5e6, verdict: "gone" } });
  return {
    before, after,
    difference: {
      schema: "utlz.difference/1", verdict: "A step takes 30.29 ms instead of 36.35 ms: 16.7 % less.",
      different: true, per_step: true, caveats: [], kernels,
      quantities: [
        { name: "step_time_ns", unit: "ns", more_is_better: false, change: changeOf(36.35e6, 30.29e6) },
        { name: "hfu", unit: "share", more_is_better: true, change: changeOf(0.33, 0.39) },
        { name: "power_watts", unit: "W", more_is_better: false, change: changeOf(688, 690) },
      ],
      slices: [{ name: "useful", time_ns: changeOf(1.1e7, 1.11e7) },
        { name: "memory-bound", time_ns: changeOf(9e6, 6.2e6) }],
    },
  };
}
