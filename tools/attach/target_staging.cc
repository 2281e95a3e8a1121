#include "tools/attach/target_staging.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/attach/send_descriptors.h"

namespace utlz::attach {
namespace {

// The region, from low to high: guard | stack | scratch | trampoline. Its parts are multiples of
// 64 KiB, the largest page size that the architectures have.
constexpr uint64_t kUnitBytes = 64 << 10;
constexpr uint64_t kGuardBytes = kUnitBytes;
constexpr uint64_t kStackBytes = 4 * kUnitBytes;
constexpr uint64_t kScratchBytes = 2 * kUnitBytes;
constexpr uint64_t kTrampolineBytes = kUnitBytes;
constexpr uint64_t kStackTop = kGuardBytes + kStackBytes;
constexpr uint64_t kTrampoline = kStackTop + kScratchBytes;
constexpr uint64_t kRegionBytes = kTrampoline + kTrampolineBytes;
// Within the scratch memory: the resume frame, then what system calls read and write.
constexpr uint64_t kFrame = kStackTop;
constexpr uint64_t kMaxFrameBytes = kUnitBytes;
constexpr uint64_t kData = kFrame + kMaxFrameBytes;
constexpr uint64_t kMaxTextBytes = 4096;

// High enough to leave the numbers alone that a program sees and prints for its own files.
constexpr uint64_t kLowestSocketNumber = 128;

template <typename Value>
absl::Span<const uint8_t> AsBytes(const Value& value) {
  return {reinterpret_cast<const uint8_t*>(&value), sizeof(value)};
}

// A message that carries one descriptor, laid out for the target's recvmsg.
struct ReceiveBuffer {
  msghdr header;
  iovec payload;
  alignas(cmsghdr) uint8_t control[CMSG_SPACE(sizeof(int))];
  char byte;
};

absl::Status MemoryError() {
  return absl::UnavailableError("cannot write to our own mapping in the target");
}

}  // namespace

TargetStaging::TargetStaging(pid_t pid, const ThreadCandidate& candidate,
                             const ThreadSnapshot& snapshot, TracedThread& thread)
    : pid_(pid),
      candidate_(candidate),
      snapshot_(snapshot),
      thread_(thread),
      memory_(pid),
      syscall_address_(WaitInstruction(candidate.call)) {}

absl::StatusOr<int64_t> TargetStaging::Syscall(const char* what, int64_t number,
                                               const SyscallArguments& arguments,
                                               const std::function<bool()>& is_still_wanted) {
  const auto result =
      thread_.Syscall(snapshot_, syscall_address_, number, arguments, is_still_wanted);
  if (!result.ok()) return result.status();
  if (*result < 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("the target could not ", what, ": ", std::strerror(static_cast<int>(-*result)),
                     " (its limits or its security policy forbid it)"));
  }
  return *result;
}

absl::Status TargetStaging::MapMemory() {
  // Readable and executable first: a policy that forbids writable memory to become executable
  // permits the opposite direction.
  const auto region = Syscall("map memory", SYS_mmap,
                              {0, kRegionBytes, PROT_READ | PROT_EXEC,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, ~uint64_t{0}, 0});
  if (!region.ok()) return region.status();
  region_ = static_cast<uint64_t>(*region);
  const auto guard = Syscall("protect memory", SYS_mprotect,
                             {region_, kGuardBytes, PROT_NONE, 0, 0, 0});
  if (!guard.ok()) return guard.status();
  const auto stack = Syscall(
      "protect memory", SYS_mprotect,
      {region_ + kGuardBytes, kStackBytes + kScratchBytes, PROT_READ | PROT_WRITE, 0, 0, 0});
  if (!stack.ok()) return stack.status();
  if (absl::Status status = WriteTrampoline(); !status.ok()) return status;
  return WriteResumeFrame();
}

absl::Status TargetStaging::WriteTrampoline() {
  const Trampoline& trampoline = TrampolineCode();
  for (size_t offset = 0; offset < trampoline.code.size(); offset += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, trampoline.code.data() + offset,
                std::min(sizeof(word), trampoline.code.size() - offset));
    if (!thread_.PokeWord(region_ + kTrampoline + offset, word)) return MemoryError();
  }
  return absl::OkStatus();
}

absl::Status TargetStaging::WriteResumeFrame() {
  const std::vector<uint8_t> frame =
      ResumeFrame(snapshot_, candidate_.call, region_ + kFrame);
  if (frame.size() > kMaxFrameBytes || !memory_.Write(region_ + kFrame, frame)) {
    return MemoryError();
  }
  thread_.SetResumeFrame(region_ + kFrame);
  syscall_address_ = region_ + kTrampoline + TrampolineCode().syscall_offset;
  return absl::OkStatus();
}

absl::StatusOr<TargetDescriptor> TargetStaging::Identify(int number) const {
  struct stat status = {};
  if (stat(absl::StrCat("/proc/", pid_, "/fd/", number).c_str(), &status) != 0) {
    return absl::UnavailableError("the target closed a descriptor of ours");
  }
  return TargetDescriptor{number, status.st_dev, status.st_ino};
}

absl::Status TargetStaging::Close(TargetDescriptor& descriptor) {
  if (descriptor.number < 0) return absl::OkStatus();
  const TargetDescriptor closed = std::exchange(descriptor, TargetDescriptor{});
  // Asked at the last moment: what remains is the time of a few instructions.
  const auto is_ours = [this, &closed] {
    const auto present = Identify(closed.number);
    return present.ok() && present->device == closed.device && present->inode == closed.inode;
  };
  const auto result =
      thread_.Syscall(snapshot_, syscall_address_, SYS_close,
                      {static_cast<uint64_t>(closed.number), 0, 0, 0, 0, 0}, is_ours);
  // Another thread's close in between leaves nothing to do.
  return result.status();
}

absl::Status TargetStaging::MakeSockets(int pidfd) {
  const auto result = Syscall("make a socket pair", SYS_socketpair,
                              {AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, region_ + kData, 0, 0});
  if (!result.ok()) return result.status();
  const auto ends = memory_.ReadValue<std::array<int32_t, 2>>(region_ + kData);
  if (!ends) return MemoryError();
  auto remote_end = Identify((*ends)[0]);
  auto own_end = Identify((*ends)[1]);
  if (own_end.ok()) socket_ = *own_end;
  if (!remote_end.ok() || !own_end.ok()) {
    TargetDescriptor remainder = remote_end.value_or(TargetDescriptor{});
    if (absl::Status status = Close(remainder); !status.ok()) return status;
    return absl::UnavailableError("the target closed a descriptor of ours");
  }
  if (absl::Status status = FetchToolSocket(pidfd, *remote_end); !status.ok()) return status;
  MoveSocketUp();
  return absl::OkStatus();
}

absl::Status TargetStaging::FetchToolSocket(int pidfd, TargetDescriptor& remote_end) {
  tool_socket_.Reset(
      static_cast<int>(syscall(SYS_pidfd_getfd, pidfd, remote_end.number, 0)));
  const int fetch_error = errno;
  const uint64_t inode = remote_end.inode;
  if (absl::Status status = Close(remote_end); !status.ok()) return status;
  struct stat status = {};
  if (!tool_socket_.valid()) {
    return absl::ErrnoToStatus(fetch_error, "cannot fetch a descriptor from the target");
  }
  if (fstat(tool_socket_.get(), &status) != 0 || status.st_ino != inode) {
    return absl::UnavailableError("the target closed a descriptor of ours");
  }
  return absl::OkStatus();
}

void TargetStaging::MoveSocketUp() {
  const auto moved = Syscall("duplicate a descriptor", SYS_fcntl,
                             {static_cast<uint64_t>(socket_.number), F_DUPFD_CLOEXEC,
                              kLowestSocketNumber, 0, 0, 0});
  // A target with a lower limit keeps the number that it gave.
  if (!moved.ok()) return;
  TargetDescriptor old = std::exchange(
      socket_, {static_cast<int>(*moved), socket_.device, socket_.inode});
  Close(old).IgnoreError();
}

absl::Status TargetStaging::SendLibrary(int memory_file) {
  struct stat sent = {};
  const uint8_t byte = 0;
  if (fstat(memory_file, &sent) != 0 ||
      !SendDescriptors(tool_socket_.get(), {&byte, 1}, {&memory_file, 1})) {
    return absl::ErrnoToStatus(errno, "cannot send the library to the target");
  }
  const uint64_t address = region_ + kData;
  ReceiveBuffer buffer = {};
  buffer.payload.iov_base = reinterpret_cast<void*>(address + offsetof(ReceiveBuffer, byte));
  buffer.payload.iov_len = 1;
  buffer.header.msg_iov =
      reinterpret_cast<iovec*>(address + offsetof(ReceiveBuffer, payload));
  buffer.header.msg_iovlen = 1;
  buffer.header.msg_control =
      reinterpret_cast<void*>(address + offsetof(ReceiveBuffer, control));
  buffer.header.msg_controllen = sizeof(buffer.control);
  if (!memory_.Write(address, AsBytes(buffer))) return MemoryError();
  const auto received = Syscall("receive the library", SYS_recvmsg,
                                {static_cast<uint64_t>(socket_.number), address,
                                 MSG_CMSG_CLOEXEC | MSG_DONTWAIT, 0, 0, 0});
  if (!received.ok()) return received.status();
  const auto answer = memory_.ReadValue<ReceiveBuffer>(address);
  int number = -1;
  if (answer) std::memcpy(&number, answer->control + CMSG_LEN(0), sizeof(number));
  const auto descriptor = Identify(number);
  if (!descriptor.ok() || descriptor->device != sent.st_dev || descriptor->inode != sent.st_ino) {
    return absl::UnavailableError("the library did not arrive in the target");
  }
  library_ = *descriptor;
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> TargetStaging::Call(uint64_t function, uint64_t first, uint64_t second) {
  return thread_.Call(snapshot_, region_ + kTrampoline, function, first, second,
                      region_ + kStackTop);
}

absl::StatusOr<uint64_t> TargetStaging::WriteText(const std::string& text) {
  const absl::Span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(text.c_str()),
                                        text.size() + 1);
  if (bytes.size() > kMaxTextBytes || !memory_.Write(region_ + kData, bytes)) {
    return MemoryError();
  }
  return region_ + kData;
}

absl::Status TargetStaging::Remove(bool keep_socket) {
  if (absl::Status status = Close(library_); !status.ok()) return status;
  if (!keep_socket) {
    if (absl::Status status = Close(socket_); !status.ok()) return status;
  }
  if (region_ == 0) return absl::OkStatus();
  // The last call cannot be made from the code that it removes.
  thread_.SetResumeFrame(0);
  syscall_address_ = WaitInstruction(candidate_.call);
  const uint64_t region = std::exchange(region_, 0);
  return Syscall("unmap memory", SYS_munmap, {region, kRegionBytes, 0, 0, 0, 0}).status();
}

}  // namespace utlz::attach
