// Divides the work of the analysis's rows among the stacks that launched it: whole nanoseconds,
// whose sum is the rows', and the idle time of the devices among the stacks on both sides of gaps.
#ifndef UTLZ_COLLECTOR_SUMMARY_OWNER_WORK_H_
#define UTLZ_COLLECTOR_SUMMARY_OWNER_WORK_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "collector/analysis/analysis.h"
#include "collector/owners/graph_owners.h"
#include "collector/summary/owner_list.h"

namespace utlz {

// Calls take(stack, row, part) for each part of a row, then end_row(errors), row by row; `row` is
// an index into the analysis's rows. A stack launches one kind of a kernel mostly; where its
// launches lie between two kinds by their mean time, they are divided between these. Work in graphs
// goes to those whose it is by `graph_owners`.
void DivideWork(const RunState& state, const Analysis& analysis, const GraphOwners& graph_owners,
                const std::function<void(uint32_t stack, size_t row, const WorkPart& part)>& take,
                const std::function<void(const RowErrors& errors)>& end_row);

// Calls take(before, after, idle_ns); what they sum to is the devices' idle time in the steady
// part, which is returned. A device's is divided as its gaps are, each as often as the step around
// it counts (DevicePart::gap_time). Where none was recorded, it goes to stack 0.
//
// Calls take_sampled(after, inside, idle_ns) for what is sampled of it: gaps in which samples of
// launching threads fell, divided among the stacks that the samples show.
int64_t DivideIdleTime(
    const RunState& state, const Analysis& analysis,
    const std::function<void(uint32_t before, uint32_t after, int64_t idle_ns)>& take,
    const std::function<void(uint32_t after, uint32_t inside, double idle_ns)>& take_sampled);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_OWNER_WORK_H_
