#include "collector/ingest/ring_mapping.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <bit>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"

namespace utlz {
namespace {

absl::Status CheckSize(uint64_t bytes) {
  if (bytes < kRingHeaderBytes + kRingMinDataBytes ||
      bytes > kRingHeaderBytes + kRingMaxDataBytes ||
      !std::has_single_bit(bytes - kRingHeaderBytes)) {
    return absl::InvalidArgumentError(absl::StrCat("a ring cannot have ", bytes, " bytes"));
  }
  return absl::OkStatus();
}

// A file of huge pages can fault for lack of pages, and any other file can be cut short under us.
absl::Status CheckFile(int fd, uint64_t announced_bytes) {
  struct stat status = {};
  struct statfs file_system = {};
  if (fstat(fd, &status) != 0 || fstatfs(fd, &file_system) != 0) {
    return absl::ErrnoToStatus(errno, "cannot examine the ring's file");
  }
  const int seals = fcntl(fd, F_GET_SEALS);
  if (!S_ISREG(status.st_mode) || seals < 0 || file_system.f_type != TMPFS_MAGIC) {
    return absl::InvalidArgumentError("the ring is not a memory file");
  }
  if ((seals & F_SEAL_SHRINK) == 0) {
    return absl::InvalidArgumentError("the ring's memory file is not sealed against shrinking");
  }
  if (static_cast<uint64_t>(status.st_size) != announced_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("the ring's file has ", status.st_size,
                                                   " bytes instead of the announced ",
                                                   announced_bytes));
  }
  return absl::OkStatus();
}

absl::Status CheckHeader(const RingHeader& header, uint64_t data_bytes) {
  if (header.magic != kRingMagic || header.abi_version != kAgentAbiVersion) {
    return absl::InvalidArgumentError("the ring's header is not one that this utlz knows");
  }
  if (header.header_bytes != kRingHeaderBytes || header.data_bytes != data_bytes) {
    return absl::InvalidArgumentError("the ring's header and its file differ in size");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RingMapping> RingMapping::Map(int fd, uint64_t announced_bytes) {
  if (absl::Status status = CheckSize(announced_bytes); !status.ok()) return status;
  if (absl::Status status = CheckFile(fd, announced_bytes); !status.ok()) return status;
  void* memory = mmap(nullptr, announced_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return absl::ErrnoToStatus(errno, "cannot map the ring");
  RingMapping mapping(static_cast<RingHeader*>(memory), announced_bytes - kRingHeaderBytes);
  if (absl::Status status = CheckHeader(mapping.header(), mapping.data_bytes()); !status.ok()) {
    return status;
  }
  return mapping;
}

RingMapping::RingMapping(RingMapping&& other) noexcept
    : header_(std::exchange(other.header_, nullptr)), data_bytes_(other.data_bytes_) {}

RingMapping& RingMapping::operator=(RingMapping&& other) noexcept {
  std::swap(header_, other.header_);
  std::swap(data_bytes_, other.data_bytes_);
  return *this;
}

RingMapping::~RingMapping() {
  if (header_ != nullptr) munmap(header_, mapped_bytes());
}

}  // namespace utlz
