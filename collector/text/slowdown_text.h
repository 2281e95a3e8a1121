// By how much utlz slowed the program, as every form of the report says it.
#ifndef UTLZ_COLLECTOR_TEXT_SLOWDOWN_TEXT_H_
#define UTLZ_COLLECTOR_TEXT_SLOWDOWN_TEXT_H_

#include <cstdint>
#include <string>

#include "proto/summary.pb.h"

namespace utlz {

// From the least to the most.
enum class BudgetVerdict : uint8_t {
  kWithin,       // no estimate is above the budget; or there is no budget
  kPerhapsOver,  // an estimate is above it, and its 95 % interval reaches below
  kOver,         // a whole 95 % interval is above it
};

// By the slowdown of the run and by that of the steps, each with its own interval: the worse
// counts.
BudgetVerdict JudgeByBudget(const CaptureSummary& capture);

// "estimated slowdown 0.8 % ± 0.5 % of the run, 3.5 % ± 2.1 % of the steps (over the budget of
// 1.0 %)"; empty where nothing is known of it.
std::string SlowdownText(const CaptureSummary& capture);

// "of the run by tracing 0.5 %, by sampling 0.2 %"; empty where there are fewer than two parts.
std::string SlowdownPartsText(const CaptureSummary& capture);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TEXT_SLOWDOWN_TEXT_H_
