// Trace event JSON, one event a line.
#ifndef UTLZ_TOOLS_EXPORT_CHROME_SINK_H_
#define UTLZ_TOOLS_EXPORT_CHROME_SINK_H_

#include <map>
#include <ostream>
#include <string>

#include "tools/export/trace_sink.h"

namespace utlz {

class ChromeSink : public TraceSink {
 public:
  explicit ChromeSink(std::ostream& out) : out_(out) {}

  void Begin() override;
  void Declare(const TraceProcess& process) override;
  void Declare(const TraceTrack& track) override;
  void Declare(const TraceCounter& counter) override;
  void Write(const TraceSlice& slice) override;
  void Write(const TraceSample& sample) override;
  void End() override;

 private:
  void Event(const std::string& event);

  std::ostream& out_;
  std::map<uint64_t, uint32_t> process_by_track_;
  std::map<uint32_t, std::string> counter_names_;
  bool first_ = true;
};

}  // namespace utlz

#endif  // UTLZ_TOOLS_EXPORT_CHROME_SINK_H_
