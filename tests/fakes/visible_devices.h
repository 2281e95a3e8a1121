// CUDA_VISIBLE_DEVICES, as the driver reads it: which GPUs a process sees, and under which numbers.
#ifndef UTLZ_TESTS_FAKES_VISIBLE_DEVICES_H_
#define UTLZ_TESTS_FAKES_VISIBLE_DEVICES_H_

#include <array>
#include <cstdint>

namespace utlz::fake {

uint32_t VisibleDeviceCount();
// The machine's number of a GPU that this process sees under `ordinal`.
uint32_t PhysicalDevice(uint32_t ordinal);
// By the machine's number.
std::array<unsigned char, 16> DeviceUuid(uint32_t device);

}  // namespace utlz::fake

#endif  // UTLZ_TESTS_FAKES_VISIBLE_DEVICES_H_
