// A run of hostile frames: the input is cut into frames of any type, source and payload.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "collector/run/run_intake.h"
#include "collector/summarize/summary_builder.h"
#include "proto/profile.pb.h"
#include "tools/report/json.h"
#include "tools/report/text.h"

namespace {

struct FrameHead {
  uint8_t type;
  uint8_t source;
  uint16_t payload_bytes;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  utlz::RunIntake intake;
  while (size >= sizeof(FrameHead)) {
    FrameHead head;
    std::memcpy(&head, bytes, sizeof(head));
    bytes += sizeof(head);
    size -= sizeof(head);
    const size_t payload_bytes = head.payload_bytes < size ? head.payload_bytes : size;
    intake.Consume(head.source % 4u, head.type % 64u,
                   std::string_view(reinterpret_cast<const char*>(bytes), payload_bytes));
    bytes += payload_bytes;
    size -= payload_bytes;
  }
  intake.EndOfInput();
  const utlz::Summary summary = utlz::Summarize(intake.Advance());
  if (utlz::RenderText(summary).empty() || utlz::RenderJson(summary).empty()) std::abort();
  return 0;
}
