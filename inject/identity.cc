#include "inject/identity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "inject/base/clock.h"
#include "inject/version.h"
#include "proto/valid_text.h"

namespace utlz::inject {
namespace {

constexpr uint32_t kMaxArgumentBytes = 16 << 10;
constexpr uint32_t kMaxPathBytes = 4 << 10;

// Bytes of a small file in /proc, or 0.
uint32_t ReadFile(const char* path, char* out, uint32_t capacity) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  uint32_t size = 0;
  ssize_t count = 0;
  while (size < capacity && (count = read(file, out + size, capacity - size)) > 0) {
    size += static_cast<uint32_t>(count);
  }
  close(file);
  return size;
}

void WriteArguments(PbWriter* out) {
  char text[kMaxArgumentBytes];
  const uint32_t size = ReadFile("/proc/self/cmdline", text, sizeof text);
  MakeValidUtf8(text, size);
  for (uint32_t begin = 0; begin < size;) {
    const auto length = static_cast<uint32_t>(strnlen(text + begin, size - begin));
    out->BytesAlways(4, text + begin, length);
    begin += length + 1;
  }
}

// A path or the like, which may be any bytes.
void WriteText(uint32_t field, const char* text, PbWriter* out) {
  char valid[kMaxCuptiPathBytes];
  const size_t length = strnlen(text, sizeof valid);
  memcpy(valid, text, length);
  MakeValidUtf8(valid, length);
  out->Bytes(field, valid, static_cast<uint32_t>(length));
}

void WriteNumberFrom(const char* variable, uint32_t field, PbWriter* out) {
  const char* text = getenv(variable);
  if (text == nullptr || *text < '0' || *text > '9') return;
  out->UintAlways(field, strtoul(text, nullptr, 10) & 0xffffffff);
}

}  // namespace

void WriteProcess(const CuptiApi& cupti, const CudaApi& cuda, ByteBuffer* message) {
  PbWriter out(message);
  out.Uint(1, static_cast<uint64_t>(getpid()));
  out.Uint(2, static_cast<uint64_t>(getppid()));
  char path[kMaxPathBytes];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length > 0) {
    MakeValidUtf8(path, static_cast<size_t>(length));
    out.Bytes(3, path, static_cast<uint32_t>(length));
  }
  WriteArguments(&out);
  out.Uint(5, cupti.version);
  WriteText(6, cupti.path, &out);
  int driver_version = 0;
  if (cuda.driver_get_version != nullptr &&
      cuda.driver_get_version(&driver_version) == cuda::kSuccess) {
    out.Uint(7, static_cast<uint64_t>(driver_version));
  }
  out.Uint(8, RealtimeNs());
  out.String(9, kVersion);
  WriteNumberFrom("RANK", 10, &out);
  WriteNumberFrom("LOCAL_RANK", 11, &out);
  WriteNumberFrom("WORLD_SIZE", 12, &out);
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) == 0) out.String(13, host);
  out.Uint(16, static_cast<uint64_t>(cupti.named.fate));
  WriteText(17, cupti.named.path, &out);
  WriteText(18, cupti.named.error, &out);
  WriteText(19, cupti.other_path, &out);
}

// Anybody can make the default folder: the pipe is looked at, never opened, and must be of who may
// serve this process.
bool MayUseMps(const char* default_folder) {
  if (getenv("CUDA_MPS_PIPE_DIRECTORY") != nullptr) return true;
  char path[256];
  const int length = snprintf(path, sizeof path, "%s/control", default_folder);
  struct stat status;
  if (length < 0 || static_cast<size_t>(length) >= sizeof path || lstat(path, &status) != 0) {
    return false;
  }
  return (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) &&
         (status.st_uid == 0 || status.st_uid == geteuid());
}

bool WriteDevice(const CudaApi& cuda, int ordinal, ByteBuffer* message) {
  int device = 0;
  if (cuda.device_get(&device, ordinal) != cuda::kSuccess) return false;
  PbWriter out(message);
  out.Uint(1, static_cast<uint64_t>(ordinal));
  uint8_t uuid[16];
  if (cuda.device_get_uuid(uuid, device) == cuda::kSuccess) out.Bytes(2, uuid, sizeof uuid);
  char text[256];
  if (cuda.device_get_pci_bus_id(text, sizeof text, device) == cuda::kSuccess) out.String(3, text);
  if (cuda.device_get_name(text, sizeof text, device) == cuda::kSuccess) out.String(4, text);
  const auto attribute = [&](int which) -> uint64_t {
    int value = 0;
    const bool known = cuda.device_get_attribute(&value, which, device) == cuda::kSuccess;
    return known && value > 0 ? static_cast<uint64_t>(value) : 0;
  };
  out.Uint(5, attribute(cuda::kAttributeMajor));
  out.Uint(6, attribute(cuda::kAttributeMinor));
  out.Uint(7, attribute(cuda::kAttributeMultiprocessors));
  size_t memory_bytes = 0;
  if (cuda.device_total_memory(&memory_bytes, device) == cuda::kSuccess) out.Uint(8, memory_bytes);
  out.Uint(9, attribute(cuda::kAttributeL2Bytes));
  out.Uint(10, attribute(cuda::kAttributeClockKhz));
  out.Uint(11, attribute(cuda::kAttributeMemoryClockKhz));
  out.Uint(12, attribute(cuda::kAttributeMemoryBusBits));
  out.Uint(14, MayUseMps("/tmp/nvidia-mps") ? 1 : 0);
  return true;
}

void WriteClocks(const CuptiApi& cupti, const CuptiClock& clock, ByteBuffer* message) {
  uint64_t cupti_ticks = 0;
  if (cupti.get_timestamp(&cupti_ticks) != cupti::kSuccess) return;
  const uint64_t realtime_ns = RealtimeNs();
  const uint64_t cupti_ns = clock.ToRealtime(cupti_ticks);
  const uint64_t monotonic_ns = MonotonicNs();
  PbWriter out(message);
  out.Bytes(1, &cupti_ns, 8);
  out.Bytes(2, &realtime_ns, 8);
  out.Bytes(3, &monotonic_ns, 8);
}

}  // namespace utlz::inject
