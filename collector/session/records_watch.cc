#include "collector/session/records_watch.h"

namespace utlz {

void RecordsWatch::Consume(uint16_t type, std::string_view payload) {
  if (type == FRAME_AGENT_STATUS) {
    AgentStatus status;
    if (!status.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return;
    state_ = status.records_state();
  } else if (type == FRAME_TRACE_WINDOW) {
    TraceWindow window;
    if (!window.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return;
    paused_ = window.end_ns() != 0;
  }
}

RecordsNow RecordsWatch::now() const {
  switch (state_) {
    case RECORDS_FROM_START:
      return paused_ ? RecordsNow::kNone : RecordsNow::kThroughout;
    case RECORDS_PAUSED:
    case RECORDS_ENDED:
      return RecordsNow::kNone;
    default:
      return RecordsNow::kInWindows;
  }
}

}  // namespace utlz
