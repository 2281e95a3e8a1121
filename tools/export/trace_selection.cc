#include "tools/export/trace_selection.h"

namespace utlz {

bool SelectingSink::InTime(uint64_t start_ns, uint64_t end_ns) const {
  // A mark has no length, and is kept where it stands in the stretch.
  return start_ns < selection_.to_ns &&
         (end_ns > selection_.from_ns || start_ns >= selection_.from_ns);
}

void SelectingSink::Declare(const TraceCounter& counter) {
  if (counter.of_kernels) rates_.insert(counter.id);
  if (selection_.counters) next_->Declare(counter);
}

void SelectingSink::Write(const TraceSlice& slice) {
  if (InTime(slice.start_ns, slice.end_ns)) {
    next_->Write(slice);
    return;
  }
  left_out_.kernels += slice.category == "kernel";
  left_out_.copies += slice.category == "copy";
  left_out_.markers += slice.category == "nvtx";
}

void SelectingSink::Write(const TraceSample& sample) {
  if (selection_.counters && InTime(sample.start_ns, sample.end_ns)) {
    next_->Write(sample);
    return;
  }
  for (const CounterValue& value : sample.values) {
    left_out_.counter_values += !rates_.contains(value.counter);
  }
}

}  // namespace utlz
