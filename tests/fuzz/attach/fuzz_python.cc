// What the attach loader reads of a Python's state: a sound one with words of it changed, or any
// bytes at all. Wherever it says that a request may be written, there is memory of the process's
// own.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/support/python_image.h"
#include "tools/attach/target/python_runtime.h"

namespace {

using utlz::attach::PythonImage;

class ImageMemory final : public utlz::attach::MemoryReader {
 public:
  explicit ImageMemory(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {}
  size_t ReadSome(uint64_t address, absl::Span<uint8_t> bytes) const override {
    const uint64_t offset = address - PythonImage::kBase;
    if (offset >= bytes_.size()) return 0;
    const size_t count = std::min<size_t>(bytes.size(), bytes_.size() - offset);
    std::copy_n(bytes_.data() + offset, count, bytes.begin());
    return count;
  }

 private:
  std::vector<uint8_t> bytes_;
};

// Pairs of which word, and what it is.
std::vector<uint8_t> SpoiledImage(const uint8_t* data, size_t size) {
  PythonImage image;
  for (; size >= 10; data += 10, size -= 10) {
    uint16_t index = 0;
    std::memcpy(&index, data, sizeof(index));
    std::memcpy(&image.words[index % PythonImage::kWords], data + 2, 8);
  }
  std::vector<uint8_t> bytes(sizeof(image.words));
  std::memcpy(bytes.data(), image.words.data(), bytes.size());
  return bytes;
}

void Find(std::vector<uint8_t> bytes) {
  const ImageMemory memory(std::move(bytes));
  const auto map = utlz::attach::MemoryMap::Parse(PythonImage::kMap);
  const auto place = utlz::attach::FindPythonRequestPlace(memory, map);
  if (!place.ok()) return;
  const auto lies_inside = [&](uint64_t address, uint64_t size) {
    const utlz::attach::Mapping* mapping = map.Find(address);
    return mapping != nullptr && mapping->range.end - address >= size;
  };
  if (!lies_inside(place->eval_breaker, 8) || !lies_inside(place->pending_call, 4) ||
      !lies_inside(place->script_path, utlz::attach::kPythonScriptPathBytes)) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Find(SpoiledImage(data, size));
  Find(std::vector<uint8_t>(data, data + size));
  return 0;
}
