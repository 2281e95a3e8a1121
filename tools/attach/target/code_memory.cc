#include "tools/attach/target/code_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace utlz::attach {
namespace {

// Of the smallest pages that the architectures have: mappings begin and end at multiples.
constexpr uint64_t kPageBytes = 4096;
constexpr size_t kMaxPages = 4096;

}  // namespace

const std::vector<uint8_t>* CodeMemory::PageAt(uint64_t start) const {
  const auto known = pages_.find(start);
  if (known != pages_.end()) return &known->second;
  const Mapping* mapping = map_.Find(start);
  if (mapping == nullptr || mapping->writable || mapping->inode == 0 ||
      pages_.size() >= kMaxPages) {
    return nullptr;
  }
  std::vector<uint8_t> page(kPageBytes);
  if (!memory_.Read(start, absl::MakeSpan(page))) return nullptr;
  return &pages_.emplace(start, std::move(page)).first->second;
}

size_t CodeMemory::ReadSome(uint64_t address, absl::Span<uint8_t> bytes) const {
  size_t done = 0;
  while (done < bytes.size()) {
    const uint64_t offset = (address + done) % kPageBytes;
    const std::vector<uint8_t>* page = PageAt(address + done - offset);
    if (page == nullptr) return done + memory_.ReadSome(address + done, bytes.subspan(done));
    const size_t count = std::min<size_t>(bytes.size() - done, kPageBytes - offset);
    std::memcpy(bytes.data() + done, page->data() + offset, count);
    done += count;
  }
  return done;
}

}  // namespace utlz::attach
