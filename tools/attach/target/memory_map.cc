#include "tools/attach/target/memory_map.h"

#include <cinttypes>
#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tools/attach/target/proc_file.h"

namespace utlz::attach {
namespace {

constexpr size_t kMaxMapsBytes = 64u << 20;
constexpr char kDeleted[] = " (deleted)";

std::optional<Mapping> ParseLine(const std::string& line) {
  Mapping mapping;
  char permissions[5] = {};
  char device[32] = {};
  int path_position = 0;
  const int fields =
      std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %31s %" SCNu64 " %n",
                  &mapping.range.start, &mapping.range.end, permissions, &mapping.file_offset_bytes,
                  device, &mapping.inode, &path_position);
  if (fields != 6 || mapping.range.start >= mapping.range.end) return std::nullopt;
  mapping.readable = permissions[0] == 'r';
  mapping.writable = permissions[1] == 'w';
  mapping.executable = permissions[2] == 'x';
  mapping.is_private = permissions[3] == 'p';
  mapping.device = device;
  mapping.path = line.substr(static_cast<size_t>(path_position));
  if (absl::EndsWith(mapping.path, kDeleted)) {
    mapping.path.resize(mapping.path.size() - (sizeof(kDeleted) - 1));
  }
  return mapping;
}

}  // namespace

std::string Mapping::BaseName() const { return path.substr(path.rfind('/') + 1); }

absl::StatusOr<MemoryMap> MemoryMap::Read(pid_t pid) {
  const auto text = ReadSmallFile(absl::StrCat("/proc/", pid, "/maps"), kMaxMapsBytes);
  if (!text.ok()) return text.status();
  if (text->empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("process ", pid, " has no memory of its own: a kernel thread or exiting"));
  }
  return Parse(*text);
}

MemoryMap MemoryMap::Parse(const std::string& text) {
  MemoryMap map;
  size_t start = 0;
  while (start < text.size()) {
    size_t end = text.find('\n', start);
    if (end == std::string::npos) end = text.size();
    if (auto mapping = ParseLine(text.substr(start, end - start))) {
      map.mappings_.push_back(*std::move(mapping));
    }
    start = end + 1;
  }
  return map;
}

const Mapping* MemoryMap::Find(uint64_t address) const {
  for (const Mapping& mapping : mappings_) {
    if (mapping.range.Contains(address)) return &mapping;
  }
  return nullptr;
}

std::vector<const Mapping*> MemoryMap::SameFile(const Mapping& mapping) const {
  std::vector<const Mapping*> same;
  for (const Mapping& other : mappings_) {
    if (other.inode == mapping.inode && other.device == mapping.device &&
        other.path == mapping.path) {
      same.push_back(&other);
    }
  }
  return same;
}

std::vector<AddressRange> MemoryMap::ExecutableRanges(const Mapping& mapping) const {
  std::vector<AddressRange> ranges;
  for (const Mapping* other : SameFile(mapping)) {
    if (other->executable) ranges.push_back(other->range);
  }
  return ranges;
}

}  // namespace utlz::attach
