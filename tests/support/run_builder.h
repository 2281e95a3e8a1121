// Frames of a made-up run, fed to a RunIntake; for tests.
#ifndef UTLZ_TESTS_SUPPORT_RUN_BUILDER_H_
#define UTLZ_TESTS_SUPPORT_RUN_BUILDER_H_

#include <string>
#include <vector>

#include "collector/run/run_intake.h"
#include "collector/summarize/summary_builder.h"
#include "proto/ring_abi.h"
#include "tests/support/launch_encoder.h"

namespace utlz {

inline constexpr uint64_t kRunStartNs = 1'700'000'000'000'000'000;

class RunBuilder {
 public:
  explicit RunBuilder(const SummaryOptions& options = {}) : intake_(options) {}

  RunIntake& intake() { return intake_; }

  template <typename Message>
  void Send(uint32_t source, FrameType type, const Message& message) {
    intake_.Consume(source, static_cast<uint16_t>(type), message.SerializeAsString());
  }

  static std::string Uuid(char fill = 'A') { return std::string(16, fill); }

  void StartRun() {
    RunStart start;
    start.set_time_ns(kRunStartNs);
    start.add_command("python");
    start.add_command("train.py");
    Send(0, FRAME_RUN_START, start);
  }

  // One device of ordinal 0 and one context 1 on it.
  void StartProcess(uint32_t source = 1, const std::string& uuid = Uuid(), uint32_t ordinal = 0) {
    Process process;
    process.set_pid(1000 + source);
    process.set_start_time_ns(kRunStartNs);
    process.add_arguments("python");
    Send(source, FRAME_PROCESS, process);
    Device device;
    device.set_ordinal(ordinal);
    device.set_uuid(uuid);
    device.set_name("Test GPU");
    device.set_multiprocessors(100);
    Send(source, FRAME_DEVICE, device);
    Context context;
    context.set_id(1);
    context.set_device_ordinal(ordinal);
    Send(source, FRAME_CONTEXT, context);
  }

  // A window in which kernels are traced, since the run's start; `end_ns` 0: it is open still.
  void SendWindow(uint64_t start_ns, uint64_t end_ns, uint32_t source = 1) {
    TraceWindow window;
    window.set_start_ns(kRunStartNs + start_ns);
    if (end_ns != 0) window.set_end_ns(kRunStartNs + end_ns);
    window.set_flags(kTraceKernels);
    Send(source, FRAME_TRACE_WINDOW, window);
  }

  // What the agent has counted of process 1: operations that were recorded, and those between
  // windows by CUPTI's numbers.
  void SendOperationCounts(uint64_t recorded, uint64_t in_gaps, bool records_ended = false) {
    AgentStatus status;
    status.set_operations_recorded(recorded);
    status.set_operations_numbered(recorded + in_gaps);
    status.set_operations_in_gaps(in_gaps);
    if (records_ended) status.set_records_state(RECORDS_ENDED);
    Send(1, FRAME_AGENT_STATUS, status);
  }

  // What the device can do at most.
  void SendPeaks() {
    DevicePeaks peaks;
    peaks.set_device_uuid(Uuid());
    peaks.set_multiprocessors(100);
    peaks.set_sm_clock_maximum_hz(1e9);
    peaks.set_dram_bytes_per_second(5e12);
    DevicePeaks::Pipe* pipe = peaks.add_pipe();
    pipe->set_data_type("bf16");
    pipe->set_flops_per_cycle(1000);
    Send(0, FRAME_DEVICE_PEAKS, peaks);
  }

  // Strings 1, 2, … and variants 0, 1, … of these names, with `grid` blocks each.
  // `first`: how many kernels were sent before these.
  void SendKernels(const std::vector<std::string>& names, uint32_t source = 1, uint32_t grid = 132,
                   uint64_t graph_node = 0, uint32_t first = 0) {
    Strings strings;
    strings.set_first(first + 1);
    Variants variants;
    variants.set_first(first);
    for (size_t i = 0; i < names.size(); ++i) {
      strings.add_values(names[i]);
      variants.add_name(first + static_cast<uint32_t>(i) + 1);
      variants.add_grid_x(grid);
      variants.add_grid_y(1);
      variants.add_grid_z(1);
      variants.add_block_x(128);
      variants.add_block_y(1);
      variants.add_block_z(1);
      variants.add_graph_node(graph_node == 0 ? 0 : graph_node + i);
    }
    Send(source, FRAME_STRINGS, strings);
    Send(source, FRAME_VARIANTS, variants);
  }

  static Launch LaunchAt(uint64_t start_ns, uint64_t duration_ns, uint32_t variant = 0) {
    return {.start_ns = kRunStartNs + start_ns,
            .end_ns = kRunStartNs + start_ns + duration_ns,
            .variant = variant,
            .correlation = 0};
  }

  // `graph_launch`: the correlation of the graph launch that they belong to; 0 = none.
  void SendLaunches(const std::vector<Launch>& launches, uint32_t source = 1, uint32_t stream = 7,
                    uint32_t graph_launch = 0) {
    DecodedLaunches decoded;
    decoded.launches = launches;
    decoded.segments.push_back({.launches = static_cast<uint32_t>(launches.size()),
                                .stream = stream,
                                .context = 1,
                                .graph_correlation = graph_launch});
    Send(source, FRAME_LAUNCHES, EncodeLaunches(decoded));
  }

  void SendCopy(CopyKind kind, uint64_t start_ns, uint64_t duration_ns, uint64_t bytes,
                bool pageable = false, uint32_t source = 1) {
    CopyBatch batch;
    batch.set_base_ns(kRunStartNs);
    batch.add_kind(kind);
    batch.add_start_delta_ns(static_cast<int64_t>(start_ns));
    batch.add_duration_ns(duration_ns);
    batch.add_bytes(bytes);
    batch.add_stream(7);
    batch.add_context(1);
    batch.add_flags(pageable ? COPY_HOST_PAGEABLE : COPY_PLAIN);
    batch.add_graph_node(0);
    Send(source, FRAME_COPIES, batch);
  }

  void EndProcess(uint32_t source = 1) {
    ProcessEnd end;
    end.set_how("exit");
    Send(source, FRAME_PROCESS_END, end);
  }

  // The profile ends here, and tells of no end.
  Summary CutOff() {
    intake_.EndOfInput();
    return Summarize(intake_.Advance());
  }

  Summary EndRun(uint64_t after_ns) {
    RunEnd end;
    end.set_time_ns(kRunStartNs + after_ns);
    end.set_exit_status(0);
    Send(0, FRAME_RUN_END, end);
    return Summarize(intake_.Advance());
  }

 private:
  RunIntake intake_;
};

}  // namespace utlz

#endif  // UTLZ_TESTS_SUPPORT_RUN_BUILDER_H_
