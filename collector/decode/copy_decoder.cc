#include "collector/decode/copy_decoder.h"

namespace utlz {
namespace {

// Columns that the agent may leave out are absent or as long as the others.
bool AbsentOr(int size, int expected) { return size == 0 || size == expected; }

}  // namespace

bool DecodeCopies(std::string_view payload, DecodedCopies* decoded) {
  decoded->copies.clear();
  decoded->untimed = 0;
  CopyBatch batch;
  if (!batch.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return false;
  const int count = batch.kind_size();
  if (batch.start_delta_ns_size() != count || batch.duration_ns_size() != count ||
      batch.bytes_size() != count || !AbsentOr(batch.stream_size(), count) ||
      !AbsentOr(batch.context_size(), count) || !AbsentOr(batch.flags_size(), count) ||
      !AbsentOr(batch.graph_node_size(), count)) {
    return false;
  }
  decoded->copies.reserve(static_cast<size_t>(count));
  uint64_t start = batch.base_ns();
  for (int i = 0; i < count; ++i) {
    start += static_cast<uint64_t>(batch.start_delta_ns(i));
    const uint64_t end = start + batch.duration_ns(i);
    if (static_cast<int64_t>(start) <= 0 ||
        static_cast<int64_t>(end) < static_cast<int64_t>(start)) {
      return false;
    }
    decoded->copies.push_back(
        {.start_ns = start,
         .end_ns = end,
         .bytes = batch.bytes(i),
         .kind = CopyKind_IsValid(static_cast<int>(batch.kind(i)))
                     ? static_cast<CopyKind>(batch.kind(i))
                     : COPY_UNKNOWN,
         .context = batch.context_size() != 0 ? batch.context(i) : 0,
         .stream = batch.stream_size() != 0 ? batch.stream(i) : 0,
         .pageable = batch.flags_size() != 0 && (batch.flags(i) & COPY_HOST_PAGEABLE) != 0,
         .of_graph = batch.graph_node_size() != 0 && batch.graph_node(i) != 0});
  }
  decoded->untimed = batch.untimed();
  return true;
}

}  // namespace utlz
