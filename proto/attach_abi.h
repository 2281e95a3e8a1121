// What the attach loader tells the library that it loads, without environment, file or argument.
//
// The library reserves one AttachConfig in a section of its own:
//
//   [[gnu::section(".utlz_attach"), gnu::used, gnu::aligned(64)]]
//   const volatile utlz::AttachConfig kAttachConfig = utlz::kEmptyAttachConfig;
//
// The loader copies the library into a sealed memory file and, before the target's dlopen() maps
// it, overwrites that section in the copy. The constructor therefore finds its configuration in
// its own data, and needs no system call to read it. `volatile` keeps the compiler from folding
// the initial value into the code. A library that was loaded in any other way still sees
// loaded_by_attach == 0.
//
// What the constructor may do: it runs on a borrowed thread of the target, on a stack of 256 KiB,
// with signals blocked, inside the dynamic loader. It only starts a thread (all signals blocked
// while it does so, so that the new thread inherits the mask) and returns. It must not call a
// cancellation point (read, write, open, close, poll ...), because the borrowed thread may have
// been cancelled, and must not throw.
#ifndef UTLZ_PROTO_ATTACH_ABI_H_
#define UTLZ_PROTO_ATTACH_ABI_H_

#include <cstddef>
#include <cstdint>

namespace utlz {

inline constexpr char kAttachSection[] = ".utlz_attach";
inline constexpr uint32_t kAttachVersion = 1;
inline constexpr size_t kMaxAttachParameterBytes = 1024;

// Version 1. Fields are only ever appended to; `size_bytes` says how many the writer knew.
struct AttachConfig {
  char magic[16];             // "utlz-attach-abi", NUL
  uint32_t version;           // kAttachVersion
  uint32_t size_bytes;        // sizeof(AttachConfig) of whoever wrote it
  uint32_t loaded_by_attach;  // 0: as built; 1: overwritten by the loader
  // The target's end of a connected SOCK_SEQPACKET pair, close-on-exec, now owned by the library.
  // The other end is in the tool. -1 if there is none.
  int32_t control_socket;
  // device and inode of that socket (fstat), so that the library can tell whether the program
  // closed the descriptor behind its back and reused the number.
  uint64_t control_socket_device;
  uint64_t control_socket_inode;
  uint64_t reserved[2];
  // Text of the tool's choice, NUL-terminated; the loader does not look inside.
  char parameters[kMaxAttachParameterBytes];
};
static_assert(sizeof(AttachConfig) == 64 + kMaxAttachParameterBytes);
static_assert(offsetof(AttachConfig, control_socket_device) == 32);

inline constexpr AttachConfig kEmptyAttachConfig = {"utlz-attach-abi", kAttachVersion,
                                                    sizeof(AttachConfig), 0, -1, 0, 0, {}, {}};

}  // namespace utlz

#endif  // UTLZ_PROTO_ATTACH_ABI_H_
