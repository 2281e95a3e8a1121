// All that the model holds about a run; filled by RunModel, read by the parts of the summary.
#ifndef UTLZ_COLLECTOR_MODEL_MODEL_STATE_H_
#define UTLZ_COLLECTOR_MODEL_MODEL_STATE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "collector/model/collective_arrivals.h"
#include "collector/model/collective_sizes.h"
#include "collector/model/device_table.h"
#include "collector/model/kernel_table.h"
#include "collector/model/launch_placement.h"
#include "collector/model/launch_plausibility.h"
#include "collector/model/marker_statistics.h"
#include "collector/model/process_table.h"
#include "collector/model/range_calibration.h"
#include "collector/model/run_model.h"
#include "collector/model/step_marks.h"

namespace utlz {

struct ModelState {
  ModelOptions options;
  ModelWork work;  // as the run was told, or as the options say
  std::optional<RunStart> run_start;
  std::optional<RunEnd> run_end;
  ProcessTable processes;
  DeviceTable devices;
  KernelTable kernels;
  MarkerStatistics markers;
  LaunchPlacement placement;
  CollectiveSizes collective_sizes;
  StepMarks step_marks;
  RangeCalibration ranges;
  CollectiveArrivals arrivals;
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

#endif  // UTLZ_COLLECTOR_MODEL_MODEL_STATE_H_
