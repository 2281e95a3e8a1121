#include "tools/merge/collective_reader.h"

#include <algorithm>
#include <utility>

#include "collector/decode/launch_decoder.h"
#include "collector/decode/parse.h"
#include "collector/kernel_names/kernel_class.h"
#include "collector/profile/profile_reader.h"
#include "collector/run/process_table.h"

namespace utlz {
namespace {

constexpr size_t kMaxCollectives = 1u << 20;  // of one process
constexpr size_t kMaxNames = 256;

// Those that end nowhere before all ranks have come. A broadcast's root may be long gone when the
// others receive.
bool HoldsRanksTogether(std::string_view kernel) {
  if (!IsCommunicationKernel(kernel)) return false;
  const std::string_view collective = CollectiveOf(kernel);
  return collective == "AllReduce" || collective == "AllGather" || collective == "ReduceScatter" ||
         collective == "AllToAll";
}

class OutlineReader {
 public:
  OutlineReader(ProfileOutline* outline, NameNumbers* names) : outline_(outline), names_(names) {}

  void Consume(const FrameView& frame);
  void Finish();

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  void ConsumeLaunches(ProcessState* process, std::string_view payload);
  // The number of a variant's name where it is a collective, else kNone.
  uint32_t NameOf(const ProcessState& process, uint32_t variant);

  ProfileOutline* outline_;
  NameNumbers* names_;
  ProcessTable processes_;
  LaunchDecoder decoder_;
  std::map<uint32_t, std::vector<Collective>> collectives_;            // by source
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> name_by_variant_;  // (source, variant)
};

uint32_t OutlineReader::NameOf(const ProcessState& process, uint32_t variant) {
  if (variant >= process.variants.size()) return kNone;
  const auto [known, is_new] = name_by_variant_.try_emplace({process.source, variant}, kNone);
  if (!is_new) return known->second;
  const uint32_t string = process.variants[variant].name;
  if (string >= process.strings.size()) return kNone;
  const std::string& name = process.strings[string];
  if (!HoldsRanksTogether(name)) return kNone;
  if (names_->size() >= kMaxNames && !names_->contains(name)) return kNone;
  known->second = names_->try_emplace(name, static_cast<uint32_t>(names_->size())).first->second;
  return known->second;
}

void OutlineReader::ConsumeLaunches(ProcessState* process, std::string_view payload) {
  const DecodedLaunches* decoded = decoder_.Decode(payload);
  if (decoded == nullptr) return;
  std::vector<Collective>& collectives = collectives_[process->source];
  for (const Launch& launch : decoded->launches) {
    const uint32_t name = NameOf(*process, launch.variant);
    if (name == kNone || collectives.size() >= kMaxCollectives) continue;
    collectives.push_back({launch.start_ns, launch.end_ns, name});
  }
}

void OutlineReader::Consume(const FrameView& frame) {
  if (frame.type == FRAME_RUN_START) {
    Parse(frame.payload, &outline_->start);
    return;
  }
  if (frame.type == FRAME_RUN_END) {
    outline_->has_end = Parse(frame.payload, &outline_->end);
    return;
  }
  if (frame.source == 0 || frame.type >= FRAME_METRIC_SET) return;
  ProcessState* process = processes_.Get(frame.source);
  if (process == nullptr) return;
  outline_->sources = std::max(outline_->sources, frame.source);
  switch (frame.type) {
    case FRAME_PROCESS:
      Parse(frame.payload, &process->info);
      break;
    case FRAME_LAUNCHES:
      ConsumeLaunches(process, frame.payload);
      break;
    case FRAME_STRINGS:
    case FRAME_VARIANTS:
      processes_.TakeDescription(frame.type, frame.payload, process);
      break;
    default:
      break;
  }
}

void OutlineReader::Finish() {
  outline_->host = outline_->start.host();
  for (const auto& [source, process] : processes_.processes()) {
    if (outline_->host.empty()) outline_->host = process->info.host();
    RankTrace rank;
    rank.source = source;
    rank.pid = process->info.host_pid() != 0 ? process->info.host_pid() : process->info.pid();
    rank.has_rank = process->info.has_rank();
    rank.rank = process->info.rank();
    rank.collectives = std::move(collectives_[source]);
    std::sort(rank.collectives.begin(), rank.collectives.end(),
              [](const Collective& a, const Collective& b) { return a.end_ns < b.end_ns; });
    outline_->ranks.push_back(std::move(rank));
  }
}

}  // namespace

absl::StatusOr<ProfileOutline> ReadOutline(const std::string& path, NameNumbers* names) {
  absl::StatusOr<ProfileReader> reader = ProfileReader::Open(path);
  if (!reader.ok()) return reader.status();
  ProfileOutline outline;
  outline.path = path;
  OutlineReader parts(&outline, names);
  for (FrameView frame; reader->Next(&frame);) parts.Consume(frame);
  parts.Finish();
  return outline;
}

}  // namespace utlz
