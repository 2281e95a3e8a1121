// All that is known of a run; filled by RunIntake, read by the parts of the summary.
#ifndef UTLZ_COLLECTOR_RUN_RUN_STATE_H_
#define UTLZ_COLLECTOR_RUN_RUN_STATE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "collector/counters/range_calibration.h"
#include "collector/decode/compiled_operations.h"
#include "collector/kernel_code/kernel_code_table.h"
#include "collector/run/alarm_table.h"
#include "collector/run/application_readings.h"
#include "collector/run/collective_order.h"
#include "collector/run/collective_sizes.h"
#include "collector/run/collective_skew.h"
#include "collector/run/device_table.h"
#include "collector/run/eager_order.h"
#include "collector/run/graph_nodes.h"
#include "collector/run/kernel_table.h"
#include "collector/run/marker_statistics.h"
#include "collector/run/memory_budget.h"
#include "collector/run/nvtx_range_correlator.h"
#include "collector/run/process_table.h"
#include "collector/run/run_reach.h"
#include "collector/run/stack_table.h"
#include "collector/run/stack_work.h"
#include "collector/run/summary_options.h"
#include "collector/run/thread_stacks.h"
#include "collector/timeline/step_marks.h"
#include "proto/profile.pb.h"

namespace utlz {

struct RunState {
  SummaryOptions options;
  WorkloadSpec work;  // as the run's command said, or as the options say
  std::optional<RunStart> run_start;
  std::optional<RunEnd> run_end;
  std::shared_ptr<MemoryBudget> memory = std::make_shared<MemoryBudget>();
  ProcessTable processes{memory};
  DeviceTable devices;
  KernelTable kernels{memory};
  StackTable stacks{memory};
  StackWork stack_work{memory};
  ThreadStacks thread_stacks{memory};
  CompiledOperations compiled_operations;
  EagerOrder eager_order{memory};
  GraphNodes graph_nodes{memory};
  KernelCodeTable kernel_code;
  MarkerStatistics markers{memory};
  NvtxRangeCorrelator correlator;
  CollectiveSizes collective_sizes;
  StepMarks step_marks;
  RangeCalibration ranges;
  CollectiveSkew arrivals;
  CollectiveOrder collective_order;
  AlarmTable alarms;
  ApplicationReadings application;
  uint64_t launches = 0;  // of kernels, whatever else is known of them
  uint64_t frames_refused = 0;
  uint64_t bytes_unreadable = 0;

  // The latest time that anything spoke of: the end of the run, or where it stands now.
  uint64_t NewestNs() const;
  // The device of a context. One that was not announced (its frame was lost) is on the process's
  // only device, or on one that is not known; none where there are too many.
  std::optional<uint32_t> DeviceOf(const ProcessState& process, uint32_t context);
  RunReach ReachOf(const ProcessState& process) const;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_RUN_RUN_STATE_H_
