#include "collector/sampler/counters/metric_candidates.h"

#include "collector/warp_threads.h"

namespace utlz {
namespace {

constexpr double kDramGrain = 32;   // bytes: DRAM is counted in sectors
constexpr double kCycleGrain = 16;  // of cycles summed over all SMs, some 10⁷ a sample

std::vector<RoleCandidates> MakeBaseRoles() {
  return {
      {METRIC_DRAM_READ_BYTES,
       {{"dram__bytes_read.sum", "byte", kDramGrain},
        {"dram__bytes_op_read.sum", "byte", kDramGrain},
        {"fbpa__dram_read_bytes.sum", "byte", kDramGrain}}},
      {METRIC_DRAM_WRITE_BYTES,
       {{"dram__bytes_write.sum", "byte", kDramGrain},
        {"dram__bytes_op_write.sum", "byte", kDramGrain},
        {"fbpa__dram_write_bytes.sum", "byte", kDramGrain}}},
      // The counter of the GPCs' clock: eight of them instead of one per SM.
      {METRIC_SM_CYCLES_ELAPSED,
       {{"gpc__cycles_elapsed.max", "cycle", 1}, {"sm__cycles_elapsed.max", "cycle", 1}},
       true},
      {METRIC_TENSOR_ACTIVE,
       {{"TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.sum", "cycle", kCycleGrain},
        {"sm__pipe_tensor_cycles_active_realtime.sum", "cycle", kCycleGrain},
        {"sm__pipe_tensor_cycles_active.sum", "cycle", kCycleGrain}}},
      {METRIC_SM_CYCLES_ACTIVE,
       {{"TPC.TriageCompute.sm__cycles_active.sum", "cycle", kCycleGrain},
        {"sm__cycles_active.sum", "cycle", kCycleGrain}}},
      {METRIC_FMA_INSTRUCTIONS,
       {{"TPC.TriageCompute.sm__inst_executed_pipe_fma_realtime.sum", "instruction", kCycleGrain},
        {"sm__inst_executed_pipe_fma_realtime.sum", "instruction", kCycleGrain},
        {"sm__inst_executed_pipe_fma.sum", "instruction", kCycleGrain}}},
  };
}

std::vector<RoleCandidates> MakeExtendedRoles() {
  std::vector<RoleCandidates> roles = MakeBaseRoles();
  const std::vector<RoleCandidates> details = {
      {METRIC_TENSOR_HMMA_ACTIVE,
       {{"TPC.TriageCompute.sm__pipe_tensor_op_hmma_cycles_active_realtime.sum", "cycle",
         kCycleGrain},
        {"TPC.TriageCompute.sm__pipe_tensor_subpipe_hmma_cycles_active_realtime.sum", "cycle",
         kCycleGrain},
        {"sm__pipe_tensor_subpipe_hmma_cycles_active_realtime.sum", "cycle", kCycleGrain}}},
      {METRIC_TENSOR_IMMA_ACTIVE,
       {{"TPC.TriageCompute.sm__pipe_tensor_op_imma_cycles_active_realtime.sum", "cycle",
         kCycleGrain},
        {"TPC.TriageCompute.sm__pipe_tensor_subpipe_imma_cycles_active_realtime.sum", "cycle",
         kCycleGrain},
        {"sm__pipe_tensor_subpipe_imma_cycles_active_realtime.sum", "cycle", kCycleGrain}}},
      {METRIC_FP64_ACTIVE,
       {{"TPC.TriageCompute.sm__pipe_fp64_cycles_active_realtime.sum", "cycle", kCycleGrain},
        {"sm__pipe_fp64_cycles_active.sum", "cycle", kCycleGrain}}},
      {METRIC_L2_BYTES, {{"lts__t_bytes.sum", "byte", kDramGrain}}},
      {METRIC_PCIE_READ_BYTES,
       {{"PCI.TriageCompute.pcie__read_bytes.sum", "byte", 1},
        {"pcie__read_bytes.sum", "byte", 1}}},
      {METRIC_PCIE_WRITE_BYTES,
       {{"PCI.TriageCompute.pcie__write_bytes.sum", "byte", 1},
        {"pcie__write_bytes.sum", "byte", 1}}},
      {METRIC_NVLINK_RX_BYTES, {{"nvlrx__bytes.sum", "byte", 1}}},
      {METRIC_NVLINK_TX_BYTES, {{"nvltx__bytes.sum", "byte", 1}}},
  };
  roles.insert(roles.end(), details.begin(), details.end());
  return roles;
}

RoleCandidates WarpInstructions(MetricRole role, const char* name, bool required = false) {
  return {role, {{name, "instruction", kCycleGrain}}, required};
}

RoleCandidates ThreadInstructions(MetricRole role, const char* name, bool required = false) {
  return {role, {{name, "instruction", kWarpThreads * kCycleGrain}}, required};
}

// Those of GH100, all in one pass. Other chips have other names, and bounds that nobody compared
// with Nsight Compute.
std::vector<RoleCandidates> MakeInstructionRoles() {
  return {
      {METRIC_SM_CYCLES_ELAPSED, {{"gpc__cycles_elapsed.max", "cycle", 1}}, true},
      WarpInstructions(METRIC_FMA_INSTRUCTIONS,
                       "TPC.TriageCompute.sm__inst_executed_pipe_fma_realtime.sum", true),
      WarpInstructions(METRIC_INSTRUCTIONS, "TPC.TriageCompute.sm__inst_executed_realtime.sum",
                       true),
      ThreadInstructions(METRIC_THREAD_INSTRUCTIONS,
                         "SM_A.TriageCompute.sm__thread_inst_executed_pred_on_realtime.sum", true),
      ThreadInstructions(METRIC_ALU_THREAD_INSTRUCTIONS,
                         "sm__thread_inst_executed_pipe_alu_pred_on.sum"),
      ThreadInstructions(METRIC_XU_THREAD_INSTRUCTIONS,
                         "sm__thread_inst_executed_pipe_xu_pred_on.sum"),
      WarpInstructions(METRIC_FMA_LITE_INSTRUCTIONS,
                       "TPC.TriageCompute.sm__inst_executed_pipe_fmalite_realtime.sum"),
      WarpInstructions(METRIC_ALU_INSTRUCTIONS,
                       "TPC.TriageCompute.sm__inst_executed_pipe_alu_realtime.sum"),
      WarpInstructions(METRIC_XU_INSTRUCTIONS,
                       "SM_A.TriageCompute.sm__inst_executed_pipe_xu_realtime.sum"),
      {METRIC_SM_CYCLES_ACTIVE,
       {{"TPC.TriageCompute.sm__cycles_active.sum", "cycle", kCycleGrain}}},
  };
}

}  // namespace

const std::vector<RoleCandidates>& InstructionRoles() {
  static const auto* const roles = new std::vector<RoleCandidates>(MakeInstructionRoles());
  return *roles;
}

const std::vector<RoleCandidates>& BaseRoles() {
  static const auto* const roles = new std::vector<RoleCandidates>(MakeBaseRoles());
  return *roles;
}

const std::vector<RoleCandidates>& ExtendedRoles() {
  static const auto* const roles = new std::vector<RoleCandidates>(MakeExtendedRoles());
  return *roles;
}

}  // namespace utlz
