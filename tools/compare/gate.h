// Decides whether a change may pass: `utlz gate`.
#ifndef UTLZ_TOOLS_COMPARE_GATE_H_
#define UTLZ_TOOLS_COMPARE_GATE_H_

#include <string>
#include <vector>

#include "proto/summary.pb.h"
#include "tools/compare/diff.h"

namespace utlz {

struct GateOptions {
  double max_regression_share = 0.03;  // 0.03: up to 3 % slower passes
  // Of the SM clocks seen on the two sides. More refuses, where what was seen tells it from chance.
  double clock_tolerance_share = 0.02;
  bool allow_other_gpu = false;
  bool allow_other_clock = false;
  bool allow_other_source = false;
  bool allow_other_program = false;
  DiffOptions diff = {};
};

enum class GateOutcome {
  kPass,
  kRegression,
  kRefused,       // the sides cannot be compared
  kOtherProgram,  // they are, or may be, runs of different programs
  kInconclusive,  // the error is too large to tell; more runs are needed
};

// Whether the sides were compared.
inline bool HasDifference(GateOutcome outcome) {
  return outcome != GateOutcome::kRefused && outcome != GateOutcome::kOtherProgram;
}

struct GateResult {
  GateOutcome outcome = GateOutcome::kPass;
  std::string measure;  // "step time", "median step time", "kernel time" or "wall time"
  Change change;        // of that measure, ns
  std::vector<std::string> reasons;  // sentences, most important first
  Difference difference;             // empty where refused or of another program
};

GateResult Gate(const std::vector<Summary>& baseline, const std::vector<Summary>& candidate,
                const GateOptions& options = {});

// The exit status of `utlz gate`: 0 pass, 1 regression, 3 inconclusive, 4 refused, 5 another
// program: 2 is left to wrong options.
int GateExitStatus(GateOutcome outcome);

}  // namespace utlz

#endif  // UTLZ_TOOLS_COMPARE_GATE_H_
