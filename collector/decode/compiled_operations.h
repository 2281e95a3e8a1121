// The operations of PyTorch that launches in files of Inductor's do, by file and line.
//
// Trust: they come from targets. Files, launches and texts are bounded; what does not fit is left
// out, and words that are no names of operations are too. Thread safety: none.
#ifndef UTLZ_COLLECTOR_DECODE_COMPILED_OPERATIONS_H_
#define UTLZ_COLLECTOR_DECODE_COMPILED_OPERATIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "proto/profile.pb.h"

namespace utlz {

class CompiledOperations {
 public:
  static constexpr size_t kMaxFiles = 4096;
  static constexpr size_t kMaxPathBytes = 1024;  // of a longer one the end counts, as in stacks
  static constexpr int kMaxLaunchesPerMessage = 1 << 14;
  static constexpr size_t kMaxLaunches = 1u << 18;
  static constexpr size_t kMaxTexts = 1u << 14;
  static constexpr size_t kMaxListBytes = 1024;  // as agents cut them
  static constexpr size_t kMaxShownBytes = 512;

  // `text_of`: the text of a string's identifier, empty where it is not known. False where the
  // message breaks a rule; then it had no effect. What came first of a file stays.
  bool Add(const CompiledCode& message, const std::function<std::string_view(uint32_t)>& text_of);

  struct Launch {
    uint32_t line = 0;
    uint32_t end = 0;   // the first line after it
    uint32_t text = 0;  // of the same operations the same
  };

  // "add + native_layer_norm"; null where nothing is known. Valid until Add.
  const std::string* Find(const std::string& file, uint32_t line) const;
  // All launches of a file whose operations are known, by line; null where there are none.
  const std::vector<Launch>* LaunchesOf(const std::string& file) const;
  const std::string& TextOf(const Launch& launch) const { return texts_[launch.text]; }

  bool empty() const { return files_.empty(); }

 private:
  std::map<std::string, std::vector<Launch>> files_;  // by line
  std::vector<std::string> texts_;
  std::map<std::string, uint32_t> text_ids_;
  size_t launches_ = 0;
};

// "add + native_layer_norm" of "aten.native_layer_norm, aten.view, aten.add": in the order of the
// alphabet, as in names of kernels, each once; without views, which launch nothing, where there are
// others. Empty where there is no operation. "…" stands for what is left out.
std::string CompiledOperationsText(std::string_view list);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_DECODE_COMPILED_OPERATIONS_H_
