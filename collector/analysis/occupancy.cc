#include "collector/analysis/occupancy.h"

#include <algorithm>
#include <cmath>

namespace utlz {
namespace {

constexpr uint32_t kWarpThreads = 32;
constexpr uint32_t kRegisters = 65536;           // of a multiprocessor, since 5.0
constexpr uint32_t kRegistersOfAWarpStep = 256;  // they are handed out in such pieces
constexpr uint32_t kReservedSharedBytes = 1024;  // of each block, since 8.0

struct Limits {
  uint32_t capability;  // major × 10 + minor
  uint32_t threads;
  uint32_t blocks;
  uint32_t shared_bytes;
};

// Of a multiprocessor.
constexpr Limits kLimits[] = {
    {70, 2048, 32, 96 << 10},   {72, 2048, 32, 96 << 10},   {75, 1024, 16, 64 << 10},
    {80, 2048, 32, 164 << 10},  {86, 1536, 16, 100 << 10},  {87, 1536, 16, 164 << 10},
    {89, 1536, 24, 100 << 10},  {90, 2048, 32, 228 << 10},  {100, 2048, 32, 228 << 10},
    {103, 2048, 32, 228 << 10}, {120, 1536, 24, 100 << 10},
};

uint32_t RoundedUp(uint32_t value, uint32_t step) { return (value + step - 1) / step * step; }

}  // namespace

uint32_t BlocksPerMultiprocessor(const VariantShape& shape, uint32_t capability_major,
                                 uint32_t capability_minor) {
  const uint32_t capability = capability_major * 10 + capability_minor;
  const auto* limits =
      std::find_if(std::begin(kLimits), std::end(kLimits),
                   [=](const Limits& each) { return each.capability == capability; });
  uint64_t threads = 1;
  for (const uint32_t size : shape.block) threads *= size;
  if (limits == std::end(kLimits) || threads == 0 || threads > 1024) return 0;
  const uint32_t warps = (static_cast<uint32_t>(threads) + kWarpThreads - 1) / kWarpThreads;
  uint32_t blocks = std::min(limits->blocks, limits->threads / (warps * kWarpThreads));
  if (shape.registers_per_thread > 0) {
    const uint32_t registers_of_a_warp =
        RoundedUp(std::min(shape.registers_per_thread, 255u) * kWarpThreads, kRegistersOfAWarpStep);
    blocks = std::min(blocks, kRegisters / registers_of_a_warp / warps);
  }
  const uint32_t reserved = capability >= 80 ? kReservedSharedBytes : 0;
  const uint64_t shared_bytes = uint64_t{shape.shared_bytes} + reserved;
  if (shared_bytes > 0) {
    blocks = std::min<uint32_t>(blocks, static_cast<uint32_t>(limits->shared_bytes / shared_bytes));
  }
  return blocks;
}

double TailShare(const VariantShape& shape, const Device& device) {
  const uint32_t blocks = BlocksPerMultiprocessor(shape, device.compute_capability_major(),
                                                  device.compute_capability_minor());
  double grid = 1;
  for (const uint32_t size : shape.grid) grid *= size;
  const double at_once = static_cast<double>(blocks) * device.multiprocessors();
  if (at_once <= 0 || grid <= at_once) return 0;
  const double waves = grid / at_once;
  return 1 - waves / std::ceil(waves);
}

}  // namespace utlz
