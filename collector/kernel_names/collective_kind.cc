#include "collector/kernel_names/collective_kind.h"

namespace utlz {
namespace {

constexpr CollectiveKind kKinds[] = {
    {"ncclAllReduce", "AllReduce", false, LinkShare::kThereAndBack},
    {"ncclAllGather", "AllGather", true, LinkShare::kAllButOwn},
    {"ncclReduceScatter", "ReduceScatter", true, LinkShare::kAllButOwn},
    {"ncclBroadcast", "Broadcast", false, LinkShare::kAll},
    {"ncclReduce", "Reduce", false, LinkShare::kAll},
    {"ncclSend", "SendRecv", false, LinkShare::kAll},
    {"ncclRecv", "SendRecv", false, LinkShare::kAll},
    {"ncclAlltoAll", "SendRecv", true, LinkShare::kAllButOwn},
    {"ncclGather", "SendRecv", true, LinkShare::kAllButOwn},
    {"ncclScatter", "SendRecv", true, LinkShare::kAllButOwn},
};

}  // namespace

const CollectiveKind* CollectiveKindOf(std::string_view function) {
  constexpr std::string_view kVariant = "Config";
  if (function.size() > kVariant.size() &&
      function.substr(function.size() - kVariant.size()) == kVariant) {
    function.remove_suffix(kVariant.size());
  }
  for (const CollectiveKind& kind : kKinds) {
    if (kind.function == function) return &kind;
  }
  return nullptr;
}

double LinkBytes(LinkShare share, uint32_t ranks) {
  const double others = (ranks - 1.0) / ranks;
  switch (share) {
    case LinkShare::kAllButOwn:
      return others;
    case LinkShare::kThereAndBack:
      return 2 * others;
    case LinkShare::kAll:
      break;
  }
  return 1;
}

}  // namespace utlz
