#include "collector/owners/compiled_parts.h"

#include <algorithm>
#include <unordered_map>

#include "collector/owners/fold_layers.h"

namespace utlz {
namespace {

// Launches that are compared: they bound the time of a summary, whatever a run holds.
constexpr size_t kFoldSteps = 1u << 24;

constexpr uint32_t OffsetOf(PartPlace place) { return static_cast<uint32_t>(place); }

// Neighbours of one name are one part: its number, from 1, of each, and the names of all parts.
struct Runs {
  std::vector<uint32_t> numbers;
  std::vector<std::string_view> names;

  void Add(std::string_view name) {
    if (names.empty() || names.back() != name) names.push_back(name);
    numbers.push_back(static_cast<uint32_t>(names.size()));
  }
};

// Where the launches of a file are.
class Places {
 public:
  Places(const FoldedLayers& folded, const std::vector<CompiledLaunch>& launches)
      : folded_(folded) {
    std::unordered_map<uint32_t, std::string_view> names;  // of labels
    for (size_t i = 0; i < launches.size(); ++i) {
      names.try_emplace(launches[i].label, launches[i].name);
      if (i < folded.begin) start_.Add(launches[i].name);
      if (i >= folded.end()) end_.Add(launches[i].name);
    }
    for (const uint32_t label : folded.pattern) repeated_.Add(names[label]);
  }

  PartPlace PlaceOf(size_t launch) const {
    if (launch < folded_.begin) return PartPlace::kStart;
    return launch < folded_.end() ? PartPlace::kRepeated : PartPlace::kEnd;
  }

  // Among the parts of its place, from 1; 0: it is none of them.
  uint32_t NumberOf(size_t launch) const {
    if (launch < folded_.begin) return start_.numbers[launch];
    if (launch >= folded_.end()) return end_.numbers[launch - folded_.end()];
    const uint32_t position = folded_.positions[launch - folded_.begin];
    return position == kNoPosition ? 0 : repeated_.numbers[position];
  }

  const std::vector<std::string_view>& repeated_names() const { return repeated_.names; }

 private:
  const FoldedLayers& folded_;
  Runs start_, repeated_, end_;
};

}  // namespace

CompiledParts::CompiledParts(const RunState& state)
    : owners_(state.stacks), launches_(state), steps_(kFoldSteps) {}

const CompiledPart* CompiledParts::PartOf(uint32_t stack) {
  const StackFrame* frame = owners_.CompiledFrameOf(stack);
  if (frame == nullptr) return nullptr;
  const File& file = FileNamed(frame->file);
  const auto after = std::upper_bound(
      file.launches.begin(), file.launches.end(), frame->line,
      [](uint32_t line, const CompiledLaunch& launch) { return line < launch.line; });
  if (after == file.launches.begin()) return nullptr;
  const auto next = static_cast<size_t>(after - file.launches.begin());
  const CompiledPart& part = parts_[file.parts[next - 1]];
  if (frame->line < file.launches[next - 1].end) return &part;
  // A line that nothing is known of, such as one that clears memory: it is where both its
  // neighbours are.
  if (after == file.launches.end()) return nullptr;
  const CompiledPart* place = PlaceOf(part);
  return place == PlaceOf(parts_[file.parts[next]]) ? place : nullptr;
}

const CompiledParts::File& CompiledParts::FileNamed(const std::string& path) {
  static const File kWithoutParts;
  const auto known = files_.find(path);
  if (known != files_.end()) return known->second;
  if (files_.size() >= kMostFiles) return kWithoutParts;
  File file;
  file.launches = launches_.Of(path);
  if (!Fold(&file)) file = File();
  return files_.emplace(path, std::move(file)).first->second;
}

bool CompiledParts::Fold(File* file) {
  std::vector<uint32_t> labels;
  for (const CompiledLaunch& launch : file->launches) labels.push_back(launch.label);
  const std::optional<FoldedLayers> folded = FoldLayers(labels, &steps_);
  if (!folded.has_value()) return false;
  const Places in_file(*folded, file->launches);
  const std::optional<uint32_t> first = PlacesOf(folded->times, in_file.repeated_names());
  if (!first.has_value()) return false;
  for (size_t i = 0; i < labels.size(); ++i) {
    const uint32_t place = *first + OffsetOf(in_file.PlaceOf(i));
    file->parts.push_back(PartIn(place, in_file.NumberOf(i), file->launches[i].name));
  }
  return true;
}

std::optional<uint32_t> CompiledParts::PlacesOf(size_t times,
                                                const std::vector<std::string_view>& names) {
  if (names.size() > kMostParts) return std::nullopt;
  std::pair key(times, std::vector<std::string>(names.begin(), names.end()));
  if (const auto known = folds_.find(key); known != folds_.end()) {
    return places_of_folds_[known->second];
  }
  if (parts_.size() + 3 + names.size() > kMostParts) return std::nullopt;
  const auto fold = static_cast<uint32_t>(folds_.size());
  folds_.emplace(std::move(key), fold);
  places_of_folds_.push_back(static_cast<uint32_t>(parts_.size()));
  for (const PartPlace place : {PartPlace::kStart, PartPlace::kRepeated, PartPlace::kEnd}) {
    parts_.push_back({fold, place, static_cast<uint32_t>(times), 0, {}});
  }
  return places_of_folds_.back();
}

uint32_t CompiledParts::PartIn(uint32_t place, uint32_t position, std::string_view operations) {
  if (position == 0) return place;
  std::tuple key(place, position, std::string(operations));
  if (const auto known = part_ids_.find(key); known != part_ids_.end()) return known->second;
  if (parts_.size() >= kMostParts) return place;
  CompiledPart part = parts_[place];
  part.position = position;
  part.operations = operations;
  parts_.push_back(std::move(part));
  return part_ids_.emplace(std::move(key), static_cast<uint32_t>(parts_.size()) - 1).first->second;
}

const CompiledPart* CompiledParts::PlaceOf(const CompiledPart& part) const {
  return &parts_[places_of_folds_[part.fold] + OffsetOf(part.place)];
}

}  // namespace utlz
