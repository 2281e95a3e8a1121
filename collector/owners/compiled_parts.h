// Parts of the code that torch.compile generated: what repeats in a file, which stands for the
// layers of the model, and what is before and after it. The files name no layers: all of this was
// concluded from the order of launches, and is marked so wherever it is shown.
//
// The order is that of the lines in the file. What is compared are the operations beside the
// launches; of a file that nobody could read, the kernels that its lines launched.
// docs/design/graph-owners.md says what is not concluded.
#ifndef UTLZ_COLLECTOR_OWNERS_COMPILED_PARTS_H_
#define UTLZ_COLLECTOR_OWNERS_COMPILED_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "collector/owners/compiled_launches.h"
#include "collector/owners/stack_owners.h"
#include "collector/run/run_state.h"

namespace utlz {

// What is before the repeated part, that part, and what is after it.
enum class PartPlace : uint32_t { kStart, kRepeated, kEnd };

struct CompiledPart {
  uint32_t fold = 0;  // files in which the same repeats as often have one number
  PartPlace place = PartPlace::kRepeated;
  uint32_t times = 0;      // how often it repeats
  uint32_t position = 0;   // from 1, among those of its place; 0: the place as a whole
  std::string operations;  // "add + native_layer_norm"; of the place as a whole empty
};

// Thread safety: none.
class CompiledParts {
 public:
  static constexpr uint32_t kMostParts = 1024;
  static constexpr size_t kMostFiles = 8192;  // those beyond have no parts

  // `state` outlives it, and stays as it is.
  explicit CompiledParts(const RunState& state);

  // Null for a launch outside of generated files, and in a file where nothing repeats. Valid until
  // the next call.
  const CompiledPart* PartOf(uint32_t stack);

 private:
  struct File {
    std::vector<CompiledLaunch> launches;  // empty where nothing repeats
    std::vector<uint32_t> parts;           // of each launch: index into parts_
  };

  const File& FileNamed(const std::string& path);
  // False where nothing repeats, or where there is no room.
  bool Fold(File* file);
  // Adds a fold's start, repeated part and end, and returns the index of the first of these three.
  // Nothing where there is no room for them.
  std::optional<uint32_t> PlacesOf(size_t times, const std::vector<std::string_view>& names);
  // The index of one part of a place; the place's own index where there is no room for more.
  uint32_t PartIn(uint32_t place, uint32_t position, std::string_view operations);
  // The start, the repeated part or the end that a part is in.
  const CompiledPart* PlaceOf(const CompiledPart& part) const;

  StackOwners owners_;
  CompiledLaunches launches_;
  std::map<std::string, File> files_;
  std::vector<CompiledPart> parts_;
  std::map<std::pair<size_t, std::vector<std::string>>, uint32_t> folds_;  // by times and names
  std::vector<uint32_t> places_of_folds_;  // index of the first of three parts
  std::map<std::tuple<uint32_t, uint32_t, std::string>, uint32_t> part_ids_;
  size_t steps_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_OWNERS_COMPILED_PARTS_H_
