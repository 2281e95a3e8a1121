// Hands on to another sink what the user asked for: a stretch of time, with or without counters.
#ifndef UTLZ_TOOLS_EXPORT_TRACE_SELECTION_H_
#define UTLZ_TOOLS_EXPORT_TRACE_SELECTION_H_

#include <cstdint>
#include <set>

#include "tools/export/trace_export_result.h"
#include "tools/export/trace_sink.h"

namespace utlz {

// On the trace's clock. What overlaps [from_ns, to_ns) is kept, whole.
struct TraceSelection {
  uint64_t from_ns = 0;
  uint64_t to_ns = UINT64_MAX;
  bool counters = true;
};

class SelectingSink : public TraceSink {
 public:
  // `next` outlives it.
  SelectingSink(TraceSink* next, const TraceSelection& selection)
      : next_(next), selection_(selection) {}

  // How much of a kind was left out.
  const TraceExportResult& left_out() const { return left_out_; }

  void Begin() override { next_->Begin(); }
  void Declare(const TraceProcess& process) override { next_->Declare(process); }
  void Declare(const TraceTrack& track) override { next_->Declare(track); }
  void Declare(const TraceCounter& counter) override;
  void Write(const TraceSlice& slice) override;
  void Write(const TraceSample& sample) override;
  void End() override { next_->End(); }

 private:
  bool InTime(uint64_t start_ns, uint64_t end_ns) const;

  TraceSink* next_;
  TraceSelection selection_;
  std::set<uint32_t> rates_;  // counters attributed to kernels, which the result does not count
  TraceExportResult left_out_;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_TRACE_SELECTION_H_
