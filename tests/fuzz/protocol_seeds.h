// Seeds of the fuzzers whose inputs no recording holds: messages between processes, files of other
// programs, and two profiles at once.
#ifndef UTLZ_TESTS_FUZZ_PROTOCOL_SEEDS_H_
#define UTLZ_TESTS_FUZZ_PROTOCOL_SEEDS_H_

#include <functional>
#include <string>

namespace utlz {

using AddSeed = std::function<void(const std::string& fuzzer, const std::string& bytes)>;

void AddProtocolSeeds(const AddSeed& add);

// The first part's size, as fuzz_compare and fuzz_merge read it, and both parts.
std::string PairOf(const std::string& first, const std::string& second);

}  // namespace utlz

#endif  // UTLZ_TESTS_FUZZ_PROTOCOL_SEEDS_H_
