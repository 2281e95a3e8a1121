// One stretch of time on a device: a kernel, a copy, or a time in which nothing was recorded.
#ifndef UTLZ_COLLECTOR_TIMELINE_ACTIVITY_H_
#define UTLZ_COLLECTOR_TIMELINE_ACTIVITY_H_

#include <cstdint>

#include "proto/profile.pb.h"

namespace utlz {

// Small and dense: a set of them is a mask of bits.
enum class ActivityKind : uint8_t {
  kCompute = 0,
  kCommunication = 1,  // kernels of a communication library, which spin while they wait
  kHostToDevice = 2,
  kHostToDevicePageable = 3,
  kDeviceToHost = 4,
  kDeviceToHostPageable = 5,
  kDeviceToDevice = 6,
  kPeerToPeer = 7,
  kMemset = 8,
  kUntraced = 9,  // between two trace windows: anything may have run
};
inline constexpr int kActivityKinds = 10;
inline constexpr unsigned kActivityMasks = 1u << kActivityKinds;

using ActivityMask = uint16_t;
constexpr ActivityMask MaskOf(ActivityKind kind) {
  return static_cast<ActivityMask>(1u << static_cast<unsigned>(kind));
}
inline constexpr ActivityMask kKernelMask =
    MaskOf(ActivityKind::kCompute) | MaskOf(ActivityKind::kCommunication);
inline constexpr ActivityMask kUntracedMask = MaskOf(ActivityKind::kUntraced);
inline constexpr ActivityMask kCopyMask =
    (kActivityMasks - 1) & ~unsigned{kKernelMask | kUntracedMask};

inline constexpr uint32_t kNoKernel = UINT32_MAX;

struct Activity {
  uint64_t start_ns;
  uint64_t end_ns;
  uint32_t kernel;  // index into KernelTable; kNoKernel for others
  uint32_t stream;
  uint32_t context;
  uint16_t source;
  ActivityKind kind;
  bool begins_launch = true;  // false for all but the first node of a graph's launch
  bool of_graph = false;      // a kernel that is a node of a graph
  uint32_t stack = 0;         // that launched it, of StackTable; 0: not known
};

// The kind of a copy; copies between host buffers take no time of the device.
constexpr bool OnDevice(CopyKind kind) { return kind != COPY_HOST_TO_HOST; }
constexpr ActivityKind KindOfCopy(CopyKind kind, bool pageable) {
  switch (kind) {
    case COPY_HOST_TO_DEVICE:
      return pageable ? ActivityKind::kHostToDevicePageable : ActivityKind::kHostToDevice;
    case COPY_DEVICE_TO_HOST:
      return pageable ? ActivityKind::kDeviceToHostPageable : ActivityKind::kDeviceToHost;
    case COPY_PEER_TO_PEER:
      return ActivityKind::kPeerToPeer;
    case COPY_MEMSET:
      return ActivityKind::kMemset;
    default:
      return ActivityKind::kDeviceToDevice;
  }
}

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_ACTIVITY_H_
