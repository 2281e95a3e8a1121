#include "inject/reports/memory_pool.h"

#include <gtest/gtest.h>

#include <map>

namespace utlz::agent {
namespace {

constexpr cuda::Result kNoPools = 1;
constexpr int kReservedNow = 5, kUsedNow = 7, kUsedHigh = 8;

// Of a device: its default pool is number 1, its current one as told.
struct PoolDriver {
  uintptr_t current = 1;
  std::map<uintptr_t, std::map<int, uint64_t>> pools = {};
};
PoolDriver pool_driver;

cuda::MemoryPool Pool(uintptr_t number) { return reinterpret_cast<cuda::MemoryPool>(number); }

CudaApi DriverWithPools() {
  CudaApi api{};
  api.device_get = [](int* device, int ordinal) {
    *device = ordinal;
    return cuda::kSuccess;
  };
  api.device_get_default_pool = [](cuda::MemoryPool* pool, int) {
    *pool = Pool(1);
    return pool_driver.pools.empty() ? kNoPools : cuda::kSuccess;
  };
  api.device_get_pool = [](cuda::MemoryPool* pool, int) {
    *pool = Pool(pool_driver.current);
    return cuda::kSuccess;
  };
  api.pool_get_attribute = [](cuda::MemoryPool pool, int attribute, void* value) {
    *static_cast<uint64_t*>(value) =
        pool_driver.pools[reinterpret_cast<uintptr_t>(pool)][attribute];
    return cuda::kSuccess;
  };
  return api;
}

TEST(MemoryPoolTest, ReadsWhatIsInUseAndWhatIsReserved) {
  pool_driver = {.pools = {{1, {{kReservedNow, 100}, {kUsedNow, 70}, {kUsedHigh, 90}}}}};
  PoolMemory memory;
  ASSERT_TRUE(ReadPoolMemory(DriverWithPools(), 0, &memory));
  EXPECT_EQ(memory.used_bytes, 70u) << "counted once where the current pool is the default one";
  EXPECT_EQ(memory.reserved_bytes, 100u);
  EXPECT_EQ(memory.used_high_bytes, 90u);
}

TEST(MemoryPoolTest, AddsTheCurrentPoolWhereItIsAnother) {
  pool_driver = {.current = 2,
                 .pools = {{1, {{kReservedNow, 100}, {kUsedNow, 70}, {kUsedHigh, 90}}},
                           {2, {{kReservedNow, 10}, {kUsedNow, 7}, {kUsedHigh, 9}}}}};
  PoolMemory memory;
  ASSERT_TRUE(ReadPoolMemory(DriverWithPools(), 0, &memory));
  EXPECT_EQ(memory.used_bytes, 77u);
  EXPECT_EQ(memory.reserved_bytes, 110u);
  EXPECT_EQ(memory.used_high_bytes, 99u);
}

TEST(MemoryPoolTest, SaysNothingOfPoolsThatNothingUsedOrThatAreNotThere) {
  PoolMemory memory;
  pool_driver = {.pools = {{1, {}}}};
  EXPECT_FALSE(ReadPoolMemory(DriverWithPools(), 0, &memory)) << "never used";
  pool_driver = {};
  EXPECT_FALSE(ReadPoolMemory(DriverWithPools(), 0, &memory)) << "the device has none";
  EXPECT_FALSE(ReadPoolMemory(CudaApi{}, 0, &memory)) << "a driver of before CUDA 11.2";
}

}  // namespace
}  // namespace utlz::agent
