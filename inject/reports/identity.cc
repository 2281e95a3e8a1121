#include "inject/reports/identity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "inject/base/clock.h"
#include "inject/reports/version.h"
#include "proto/profile_fields.h"
#include "proto/valid_text.h"

namespace utlz::agent {
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
    out->BytesAlways(wire::Process::kArguments, text + begin, length);
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

// The environment variables that launchers set. The first launcher with a rank counts: torchrun may
// itself have been started by the others.
struct Launcher {
  const char* rank;
  const char* local_rank;
  const char* world_size;
};
constexpr Launcher kLaunchers[] = {
    {"RANK", "LOCAL_RANK", "WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"},
    // Only a step of srun has the last one. The script of a batch job is no rank, and has the
    // others.
    {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS"},
};

// False where it is not set, or set to no number.
bool ReadNumber(const char* variable, uint64_t* number) {
  const char* text = getenv(variable);
  if (text == nullptr || *text < '0' || *text > '9') return false;
  *number = strtoul(text, nullptr, 10) & 0xffffffff;
  return true;
}

void WriteRank(PbWriter* out) {
  for (const Launcher& launcher : kLaunchers) {
    uint64_t rank = 0;
    uint64_t local_rank = 0;
    uint64_t world_size = 0;
    if (!ReadNumber(launcher.rank, &rank)) continue;
    const bool has_world_size = ReadNumber(launcher.world_size, &world_size);
    if (!has_world_size && strcmp(launcher.rank, "SLURM_PROCID") == 0) continue;
    out->UintAlways(wire::Process::kRank, rank);
    if (ReadNumber(launcher.local_rank, &local_rank)) {
      out->UintAlways(wire::Process::kLocalRank, local_rank);
    }
    if (has_world_size) out->UintAlways(wire::Process::kWorldSize, world_size);
    return;
  }
}

}  // namespace

void WriteProcess(const CuptiApi& cupti, const CudaApi& cuda, ByteBuffer* message) {
  namespace field = wire::Process;
  PbWriter out(message);
  out.Uint(field::kPid, static_cast<uint64_t>(getpid()));
  out.Uint(field::kParentPid, static_cast<uint64_t>(getppid()));
  char path[kMaxPathBytes];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length > 0) {
    MakeValidUtf8(path, static_cast<size_t>(length));
    out.Bytes(field::kExecutable, path, static_cast<uint32_t>(length));
  }
  WriteArguments(&out);
  out.Uint(field::kCuptiVersion, cupti.version);
  WriteText(field::kCuptiPath, cupti.path, &out);
  int driver_version = 0;
  if (cuda.driver_get_version != nullptr &&
      cuda.driver_get_version(&driver_version) == cuda::kSuccess) {
    out.Uint(field::kDriverVersion, static_cast<uint64_t>(driver_version));
  }
  out.Uint(field::kStartTimeNs, RealtimeNs());
  out.String(field::kAgentVersion, kVersion);
  WriteRank(&out);
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) == 0) out.String(field::kHost, host);
  out.Uint(field::kNamedCupti, static_cast<uint64_t>(cupti.named.fate));
  WriteText(field::kNamedCuptiPath, cupti.named.path, &out);
  WriteText(field::kNamedCuptiError, cupti.named.error, &out);
  WriteText(field::kOtherCuptiPath, cupti.other_path, &out);
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
  namespace field = wire::Device;
  int device = 0;
  if (cuda.device_get(&device, ordinal) != cuda::kSuccess) return false;
  PbWriter out(message);
  out.Uint(field::kOrdinal, static_cast<uint64_t>(ordinal));
  uint8_t uuid[16];
  if (cuda.device_get_uuid(uuid, device) == cuda::kSuccess)
    out.Bytes(field::kUuid, uuid, sizeof uuid);
  char text[256];
  if (cuda.device_get_pci_bus_id(text, sizeof text, device) == cuda::kSuccess)
    out.String(field::kPciBus, text);
  if (cuda.device_get_name(text, sizeof text, device) == cuda::kSuccess)
    out.String(field::kName, text);
  const auto attribute = [&](int which) -> uint64_t {
    int value = 0;
    const bool known = cuda.device_get_attribute(&value, which, device) == cuda::kSuccess;
    return known && value > 0 ? static_cast<uint64_t>(value) : 0;
  };
  out.Uint(field::kComputeCapabilityMajor, attribute(cuda::kAttributeMajor));
  out.Uint(field::kComputeCapabilityMinor, attribute(cuda::kAttributeMinor));
  out.Uint(field::kMultiprocessors, attribute(cuda::kAttributeMultiprocessors));
  size_t memory_bytes = 0;
  if (cuda.device_total_memory(&memory_bytes, device) == cuda::kSuccess)
    out.Uint(field::kMemoryBytes, memory_bytes);
  out.Uint(field::kL2Bytes, attribute(cuda::kAttributeL2Bytes));
  out.Uint(field::kSmClockKhz, attribute(cuda::kAttributeClockKhz));
  out.Uint(field::kMemoryClockKhz, attribute(cuda::kAttributeMemoryClockKhz));
  out.Uint(field::kMemoryBusBits, attribute(cuda::kAttributeMemoryBusBits));
  out.Uint(field::kMps, MayUseMps("/tmp/nvidia-mps") ? 1 : 0);
  return true;
}

}  // namespace utlz::agent
