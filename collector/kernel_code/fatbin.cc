#include "collector/kernel_code/fatbin.h"

#include <zstd.h>

#include <algorithm>

namespace utlz {
namespace {

constexpr uint64_t kMostEntries = 200'000;
constexpr uint64_t kMostBytesOfCubins = uint64_t{4} << 30;
constexpr uint32_t kMagic = 0xba55ed50;
constexpr uint64_t kAlignment = 8;
// Zeros between two containers, at most.
constexpr uint64_t kMostPadding = 4096;
constexpr uint16_t kEntryOfCubin = 2;

// Bits of FatbinReader::Entry::flags.
constexpr uint64_t kCompressedByLz4 = 0x2000;
constexpr uint64_t kCompressedByZstd = 0x8000;

struct Container {
  uint32_t magic;
  uint16_t version;
  uint16_t header_bytes;
  uint64_t bytes;  // behind the header
};
static_assert(sizeof(Container) == 16);

}  // namespace

struct FatbinReader::Entry {
  uint16_t kind;
  uint16_t version;
  uint32_t header_bytes;
  uint64_t bytes;  // behind the header
  uint32_t compressed_bytes;
  uint32_t options_offset;
  uint16_t minor;
  uint16_t major;
  uint32_t compute_capability;
  uint64_t name;
  uint64_t flags;
  uint64_t reserved;
  uint64_t cubin_bytes;  // where it is compressed
};

bool IsFatbin(const ByteSource& source) {
  uint32_t magic = 0;
  return source.ReadValue(0, &magic) && magic == kMagic;
}

absl::Status FatbinReader::Read(const ByteSource& source, uint64_t offset, uint64_t size,
                                const Cubin& cubin) {
  if (size > source.size() || offset > source.size() - size) return absl::OkStatus();
  const uint64_t start = offset;
  const uint64_t end = offset + size;
  uint64_t padding = 0;
  while (end - offset >= sizeof(Container) && padding <= kMostPadding) {
    Container container;
    if (!source.ReadValue(offset, &container)) break;
    if (container.magic != kMagic) {
      offset += kAlignment;  // within `end`: a container is longer
      padding += kAlignment;
      continue;
    }
    padding = 0;
    const uint64_t begin = offset + container.header_bytes;
    if (container.header_bytes < sizeof(Container) || begin > end ||
        container.bytes > end - begin) {
      break;
    }
    Next next = Next::kGoOn;
    const absl::Status status = ReadContainer(source, begin, begin + container.bytes, cubin, &next);
    if (!status.ok() || next == Next::kEnough) return status;
    offset = begin + container.bytes;
    const uint64_t beyond = (offset - start) % kAlignment;
    if (beyond > 0) offset += std::min(kAlignment - beyond, end - offset);
  }
  return absl::OkStatus();
}

bool FatbinReader::IsOurs(const Entry& entry) const {
  return entry.kind == kEntryOfCubin &&
         entry.compute_capability == static_cast<uint32_t>(compute_capability_);
}

std::string_view FatbinReader::ReadAgain(const ByteSource& source, uint64_t place) {
  Entry entry;
  if (!source.ReadValue(place, &entry) || entry.header_bytes < sizeof(Entry) || !IsOurs(entry)) {
    return {};
  }
  const uint64_t begin = place + entry.header_bytes;
  if (begin > source.size() || entry.bytes > source.size() - begin) return {};
  return cubin_bytes_ > kMostBytesOfCubins ? std::string_view() : CubinOf(source, begin, entry);
}

absl::Status FatbinReader::ReadContainer(const ByteSource& source, uint64_t offset, uint64_t end,
                                         const Cubin& cubin, Next* next) {
  while (end - offset >= sizeof(Entry)) {
    Entry entry;
    if (++entries_ > kMostEntries) {
      return absl::ResourceExhaustedError("a library has more than 200,000 entries of device code");
    }
    if (!source.ReadValue(offset, &entry)) break;
    const uint64_t begin = offset + entry.header_bytes;
    if (entry.header_bytes < sizeof(Entry) || begin > end || entry.bytes > end - begin) break;
    if (IsOurs(entry)) {
      const std::string_view bytes = CubinOf(source, begin, entry);
      if (cubin_bytes_ > kMostBytesOfCubins) {
        return absl::ResourceExhaustedError("a library has more than 4 GiB of device code");
      }
      if (!bytes.empty() && !cubin(offset, bytes)) {
        *next = Next::kEnough;
        return absl::OkStatus();
      }
    }
    offset = begin + entry.bytes;
  }
  return absl::OkStatus();
}

std::string_view FatbinReader::CubinOf(const ByteSource& source, uint64_t offset,
                                       const Entry& entry) {
  if ((entry.flags & kCompressedByLz4) != 0) return {};
  const bool compressed = (entry.flags & kCompressedByZstd) != 0;
  if (!compressed) {
    if (entry.bytes > kMostCubinBytes) return {};
    cubin_bytes_ += entry.bytes;
    cubin_.resize(entry.bytes);
    if (!source.Read(offset, cubin_.size(), cubin_.data())) return {};
    return {cubin_.data(), cubin_.size()};
  }
  const bool sized = entry.compressed_bytes <= entry.bytes &&
                     entry.compressed_bytes <= kMostCompressedCubinBytes &&
                     entry.cubin_bytes <= kMostCubinBytes;
  if (!sized) return {};
  compressed_.resize(entry.compressed_bytes);
  if (!source.Read(offset, compressed_.size(), compressed_.data())) return {};
  // Memory is taken only where both say the same.
  if (ZSTD_getFrameContentSize(compressed_.data(), compressed_.size()) != entry.cubin_bytes) {
    return {};
  }
  cubin_bytes_ += entry.cubin_bytes;
  cubin_.resize(entry.cubin_bytes);
  const size_t size =
      ZSTD_decompress(cubin_.data(), cubin_.size(), compressed_.data(), compressed_.size());
  if (ZSTD_isError(size)) return {};
  return {cubin_.data(), size};
}

}  // namespace utlz
