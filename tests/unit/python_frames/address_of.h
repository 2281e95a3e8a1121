// Where an object of the test is, as a made-up interpreter holds it.
#ifndef UTLZ_TESTS_UNIT_PYTHON_FRAMES_ADDRESS_OF_H_
#define UTLZ_TESTS_UNIT_PYTHON_FRAMES_ADDRESS_OF_H_

#include <cstdint>

namespace utlz::agent {

inline uint64_t AddressOf(const void* what) { return reinterpret_cast<uint64_t>(what); }

}  // namespace utlz::agent

#endif  // UTLZ_TESTS_UNIT_PYTHON_FRAMES_ADDRESS_OF_H_
