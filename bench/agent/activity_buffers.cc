#include "bench/agent/activity_buffers.h"

#include <cstring>

namespace utlz::agent {
namespace {

// CUpti_ActivityKernel10: what the agent declares of it, and what it does not.
constexpr size_t kKernelBytes = sizeof(cupti::KernelRecord) + 8;
// CUpti_ActivityMemcpy6.
constexpr size_t kCopyBytes = 112;
static_assert(sizeof(cupti::MemcpyRecord) <= kCopyBytes);

size_t BytesOf(const cupti::RecordHead& record) {
  return record.kind == cupti::kKindMemcpy ? kCopyBytes : kKernelBytes;
}

}  // namespace

ActivityBuffers::ActivityBuffers(Load load)
    : memory_(std::make_unique<uint8_t[]>(kBuffers * kBufferBytes)) {
  MakeNames(load == Load::kTraining ? 40 : 12);
  MakeShapes(load);
  Fill(load);
}

cupti::Result ActivityBuffers::NextRecord(uint8_t* buffer, size_t valid_bytes,
                                          cupti::RecordHead** record) {
  uint8_t* next = buffer;
  if (*record != nullptr) next = reinterpret_cast<uint8_t*>(*record) + BytesOf(**record);
  if (next >= buffer + valid_bytes) return cupti::kErrorMaxLimitReached;
  *record = reinterpret_cast<cupti::RecordHead*>(next);
  return cupti::kSuccess;
}

// Mangled names as long as PyTorch's, which share long beginnings.
void ActivityBuffers::MakeNames(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    std::string name = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_";
    name.append(120 + 8 * (i % 12), 'x');
    names_.push_back(name + std::to_string(i) + "EEvT_T0_T1_");
  }
}

void ActivityBuffers::MakeShapes(Load load) {
  const size_t launches = load == Load::kTraining ? 420 : load == Load::kGraphDecode ? 138 : 140;
  const size_t shapes = load == Load::kTraining ? 90 : 20;
  for (size_t i = 0; i < launches; ++i) {
    const size_t shape = random_() % shapes;
    Shape entry;
    std::memset(&entry.record, 0, sizeof entry.record);
    entry.record.kind = cupti::kKindConcurrentKernel;
    entry.record.name = names_[shape % names_.size()].c_str();
    entry.record.context_id = 1;
    entry.record.grid_x = static_cast<int32_t>(16 + shape);
    entry.record.grid_y = entry.record.grid_z = 1;
    entry.record.block_x = 128;
    entry.record.block_y = entry.record.block_z = 1;
    entry.record.registers_per_thread = static_cast<uint16_t>(32 + shape % 5 * 16);
    entry.record.dynamic_shared_memory = static_cast<int32_t>(shape % 3 * 16384);
    if (load == Load::kGraphDecode) {
      entry.record.graph_node_id = 0x100000000u + i;
      entry.record.graph_id = 5;
    }
    entry.gap_ns = load == Load::kEagerDecode ? 9'000 : 900;
    entry.duration_ns = 2'000 + 700 * (shape % 20);
    step_.push_back(entry);
  }
}

// A value within 3 % of the one given.
uint64_t ActivityBuffers::Jitter(uint64_t nanoseconds) {
  return nanoseconds - nanoseconds / 32 + random_() % (nanoseconds / 16 + 1);
}

void ActivityBuffers::AddKernel(uint8_t* place, const Shape& shape, uint32_t stream) {
  cupti::KernelRecord record = shape.record;
  record.start = now_ns_ + Jitter(shape.gap_ns);
  record.end = record.start + Jitter(shape.duration_ns);
  record.stream_id = stream;
  record.correlation_id = correlation_;
  now_ns_ = record.end;
  std::memcpy(place, &record, sizeof record);
}

void ActivityBuffers::AddCopy(uint8_t* place) {
  cupti::MemcpyRecord record;
  std::memset(&record, 0, sizeof record);
  record.kind = cupti::kKindMemcpy;
  record.copy_kind = cupti::kCopyDeviceToDevice;
  record.bytes = 1 << 20;
  record.start = now_ns_ + Jitter(900);
  record.end = record.start + Jitter(1'500);
  record.context_id = 1;
  record.stream_id = 7;
  record.correlation_id = correlation_;
  now_ns_ = record.end;
  std::memcpy(place, &record, sizeof record);
}

void ActivityBuffers::Fill(Load load) {
  size_t next = 0;
  for (size_t buffer = 0; buffer < kBuffers; ++buffer) {
    size_t used = 0;
    uint64_t launches = 0;
    while (used + kKernelBytes + kCopyBytes <= kBufferBytes) {
      if (load == Load::kTraining && next % 20 == 19) {
        AddCopy(Buffer(buffer) + used);
        used += kCopyBytes;
      }
      const bool graph_begins = load == Load::kGraphDecode && next == 0;
      if (load != Load::kGraphDecode || graph_begins) ++correlation_;
      AddKernel(Buffer(buffer) + used, step_[next],
                load == Load::kTraining && next % 100 >= 90 ? 13 : 7);
      used += kKernelBytes;
      ++launches;
      next = (next + 1) % step_.size();
    }
    valid_bytes_.push_back(used);
    launches_.push_back(launches);
  }
}

}  // namespace utlz::agent
