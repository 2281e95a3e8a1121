// Activity buffers as CUPTI 13.0 fills them, of loads that people run, for benchmarks of what the
// agent does with them.
#ifndef UTLZ_BENCH_AGENT_ACTIVITY_BUFFERS_H_
#define UTLZ_BENCH_AGENT_ACTIVITY_BUFFERS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "inject/driver/cupti_abi.h"

namespace utlz::agent {

enum class Load {
  kEagerDecode,  // 140 launches a step, of 20 shapes of 12 functions, on one stream
  kGraphDecode,  // a graph of 138 nodes, replayed
  kTraining,     // 420 launches of 90 shapes a step, a copy every 20 launches, two streams
};

class ActivityBuffers {
 public:
  static constexpr size_t kBufferBytes = 256 << 10;
  // Together larger than a core's caches, as CUPTI's and ours are in a live process.
  static constexpr size_t kBuffers = 32;

  explicit ActivityBuffers(Load load);

  uint8_t* Buffer(size_t index) const { return memory_.get() + index * kBufferBytes; }
  size_t ValidBytes(size_t index) const { return valid_bytes_[index]; }
  uint64_t Launches(size_t index) const { return launches_[index]; }

  // cuptiActivityGetNextRecord.
  static cupti::Result NextRecord(uint8_t* buffer, size_t valid_bytes, cupti::RecordHead** record);

 private:
  struct Shape {
    cupti::KernelRecord record;
    uint64_t gap_ns;
    uint64_t duration_ns;
  };

  void MakeNames(size_t count);
  void MakeShapes(Load load);
  void Fill(Load load);
  void AddKernel(uint8_t* place, const Shape& shape, uint32_t stream);
  void AddCopy(uint8_t* place);
  uint64_t Jitter(uint64_t nanoseconds);

  std::unique_ptr<uint8_t[]> memory_;
  std::vector<size_t> valid_bytes_;
  std::vector<uint64_t> launches_;
  std::vector<std::string> names_;
  std::vector<Shape> step_;
  std::mt19937 random_{1};
  uint64_t now_ns_ = 1'795'217'167'097'298'857;
  uint32_t correlation_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_BENCH_AGENT_ACTIVITY_BUFFERS_H_
