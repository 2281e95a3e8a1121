// What the loader puts into the target before the point of no return, and how it is taken out
// again: a mapping for our stack and trampoline, a socket pair's end, the library's memory file.
#ifndef UTLZ_TOOLS_ATTACH_TARGET_STAGING_H_
#define UTLZ_TOOLS_ATTACH_TARGET_STAGING_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "collector/unique_fd.h"
#include "tools/attach/target/remote_memory.h"
#include "tools/attach/thread_choice.h"
#include "tools/attach/traced_thread.h"
#include "tools/attach/unwind/arch.h"

namespace utlz::attach {

// A descriptor in the target, with what identifies it: the program may close it and reuse the
// number at any moment, and then it is no longer ours to close.
struct TargetDescriptor {
  int number = -1;
  uint64_t device = 0;
  uint64_t inode = 0;
};

class TargetStaging {
 public:
  // All references must outlive this object.
  TargetStaging(pid_t pid, const ThreadCandidate& candidate, const ThreadSnapshot& snapshot,
                TracedThread& thread);

  // Maps stack, scratch memory and trampoline, and arms the trampoline's way home. Each step
  // returns an error with nothing of its own left behind.
  absl::Status MapMemory();
  // Makes a socket pair in the target, fetches one end, and leaves it the other.
  absl::Status MakeSockets(int pidfd);
  // Hands the target a descriptor of ours over those sockets.
  absl::Status SendLibrary(int memory_file);

  // Runs function(first, second) on our stack.
  absl::StatusOr<uint64_t> Call(uint64_t function, uint64_t first, uint64_t second);
  // Puts NUL-terminated text where a call can find it.
  absl::StatusOr<uint64_t> WriteText(const std::string& text);

  // Takes the library's descriptor out, then the mapping. The socket stays if `keep_socket`.
  // Stops at the first thing that fails.
  absl::Status Remove(bool keep_socket);

  const TargetDescriptor& target_socket() const { return socket_; }
  const TargetDescriptor& library() const { return library_; }
  UniqueFd TakeToolSocket() { return std::move(tool_socket_); }

 private:
  absl::StatusOr<int64_t> Syscall(const char* what, int64_t number,
                                  const SyscallArguments& arguments,
                                  const std::function<bool()>& is_still_wanted = nullptr);
  absl::Status WriteResumeFrame();
  absl::Status WriteTrampoline();
  absl::StatusOr<TargetDescriptor> Identify(int number) const;
  absl::Status Close(TargetDescriptor& descriptor);
  absl::Status FetchToolSocket(int pidfd, TargetDescriptor& remote_end);
  void MoveSocketUp();

  pid_t pid_;
  const ThreadCandidate& candidate_;
  const ThreadSnapshot& snapshot_;
  TracedThread& thread_;
  RemoteMemory memory_;
  uint64_t region_ = 0;  // 0: not mapped
  // Where system calls are made: the thread's own instruction, then the trampoline's.
  uint64_t syscall_address_;
  TargetDescriptor socket_;
  TargetDescriptor library_;
  UniqueFd tool_socket_;
};

}  // namespace utlz::attach

#endif  // UTLZ_TOOLS_ATTACH_TARGET_STAGING_H_
