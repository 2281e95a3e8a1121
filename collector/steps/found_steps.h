// The steps of a run as its devices show them, before anything is summed: where they come from,
// what the device did in each, and for how many steps that were not traced each one stands.
#ifndef UTLZ_COLLECTOR_STEPS_FOUND_STEPS_H_
#define UTLZ_COLLECTOR_STEPS_FOUND_STEPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/analysis/operation_axis.h"
#include "collector/run/run_state.h"
#include "collector/steps/partly_traced.h"
#include "collector/steps/step.h"

namespace utlz {

struct FoundSteps {
  std::string source;                   // "kernel", "nvtx", "graph", "pattern"
  const DeviceState* device = nullptr;  // that the steps' contents are of
  uint32_t device_index = 0;
  // Where the contents are of one process alone, on a device that it shares.
  std::optional<uint32_t> process = std::nullopt;
  double operations = 0;                         // in one step; 0 where that is not known
  bool hold_layers = false;                      // StepFinder's layers are parts of these steps
  std::vector<Step> steps;                       // traced whole, in order
  std::vector<PartlyTraced> partly_traced = {};  // after the first of `steps`, in order

  // The end of the last step that was traced, wholly or partly. There must be steps.
  uint64_t end_ns() const;

  // Of the device, or of the process on it. Only where there is a device.
  const ActivityTotals& ledger() const;
};

// Of the operations that the steps' contents are of.
OperationAxis AxisOf(const RunState& state, const FoundSteps& found);

// Steps after found.end_ns(), by the operations that followed; nothing where these were not
// counted.
std::optional<double> StepsAfter(const FoundSteps& found, const OperationAxis& axis);
// Steps of the run, those that were not traced among them. `after` as StepsAfter says.
double CountSteps(const FoundSteps& found, std::optional<double> after);

// Whether there are as many as --steps says: what a program does before and after its loop makes a
// difference of a few.
bool AreAsMany(double count, double expected);

// Chooses the level with as many steps as SummaryOptions.steps says. If there is none, steps begin
// at the kernel named by --step-kernel, else at the program's NVTX ranges, else at launches of one
// graph, else at launches that repeat. Devices of one job step together: the one with most steps
// stands for all.
FoundSteps FindSteps(const RunState& state);
// The steps of one process: by its NVTX ranges, else by its launches. Where nearly all launches of
// a device are its own, the device's steps are the process's. Where it shares a device, only what
// it launched there itself is looked at.
FoundSteps FindStepsOf(const RunState& state, uint32_t source);
// Whether no other process of the run did anything on a GPU: the run's steps are its own.
bool WorksAlone(const RunState& state, uint32_t source);

// For how long the gap lies between two times.
double OverlapNs(const LongGap& gap, uint64_t start_ns, uint64_t end_ns);

// What a step takes with those that were not traced, between two traced ones: the time of both is
// known, and CUPTI's numbers tell how many steps it was. Nothing where nothing was left untraced,
// or the numbers do not tell.
struct StepRate {
  double mean_ns = 0;         // traced or not
  double traced_mean_ns = 0;  // of the traced ones, weighed as all
};
std::optional<StepRate> RateOf(const FoundSteps& found, const OperationAxis& axis, size_t warmup);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_STEPS_FOUND_STEPS_H_
