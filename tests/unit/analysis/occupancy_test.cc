// Against NVIDIA's occupancy calculator.
#include "collector/analysis/occupancy.h"

#include <gtest/gtest.h>

namespace utlz {
namespace {

VariantShape Shape(uint32_t threads, uint32_t registers, uint32_t shared_bytes, uint32_t grid = 1) {
  VariantShape shape;
  shape.grid[0] = grid;
  shape.grid[1] = shape.grid[2] = 1;
  shape.block[0] = threads;
  shape.block[1] = shape.block[2] = 1;
  shape.registers_per_thread = registers;
  shape.shared_bytes = shared_bytes;
  return shape;
}

TEST(OccupancyTest, CountsBlocksThatRunAtOnce) {
  EXPECT_EQ(BlocksPerMultiprocessor(Shape(256, 32, 0), 9, 0), 8u) << "2048 threads";
  EXPECT_EQ(BlocksPerMultiprocessor(Shape(32, 16, 0), 9, 0), 32u) << "at most 32 blocks";
  EXPECT_EQ(BlocksPerMultiprocessor(Shape(128, 255, 0), 9, 0), 2u) << "8160 registers a warp";
  EXPECT_EQ(BlocksPerMultiprocessor(Shape(384, 168, 200 << 10), 9, 0), 1u) << "shared memory";
  EXPECT_EQ(BlocksPerMultiprocessor(Shape(128, 32, 48 << 10), 8, 0), 3u) << "3 x 49 of 164 KB";
  EXPECT_EQ(BlocksPerMultiprocessor(Shape(256, 32, 0), 8, 9), 6u) << "1536 threads";
  EXPECT_EQ(BlocksPerMultiprocessor(Shape(256, 32, 0), 3, 5), 0u) << "not known";
  EXPECT_EQ(BlocksPerMultiprocessor(Shape(0, 32, 0), 9, 0), 0u);
  EXPECT_EQ(BlocksPerMultiprocessor(Shape(4096, 32, 0), 9, 0), 0u);
}

TEST(OccupancyTest, TailOfTheLastWave) {
  Device device;
  device.set_compute_capability_major(9);
  device.set_multiprocessors(100);
  // 800 blocks at once.
  EXPECT_EQ(TailShare(Shape(256, 32, 0, 800), device), 0);
  EXPECT_EQ(TailShare(Shape(256, 32, 0, 1600), device), 0);
  EXPECT_NEAR(TailShare(Shape(256, 32, 0, 1000), device), 1 - 1.25 / 2, 1e-12);
  EXPECT_EQ(TailShare(Shape(256, 32, 0, 100), device), 0) << "a small launch, not a tail";
  EXPECT_EQ(TailShare(Shape(256, 32, 0, 1000), Device()), 0);
}

}  // namespace
}  // namespace utlz
