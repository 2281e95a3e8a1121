// Any machine code, and any description as it may stand in a profile, with any counts.
#include <cmath>
#include <cstdlib>
#include <string>

#include "collector/kernel_code/describe_code.h"
#include "collector/kernel_code/flop_bounds.h"
#include "tests/support/fuzz_bytes.h"

namespace utlz {
namespace {

CountedLaunch TakeCounts(FuzzBytes* input) {
  CountedLaunch counted;
  counted.threads = input->Take<uint16_t>();
  counted.warps = std::ceil(counted.threads / 32);
  if ((input->Take<uint8_t>() & 1) != 0) counted.warps = input->Take<double>();
  for (std::optional<CountedInstructions>* count :
       {&counted.warp_fma, &counted.warp_fma_lite, &counted.warp_alu, &counted.warp_xu,
        &counted.warp_all, &counted.thread_fma, &counted.thread_fma_lite, &counted.thread_alu,
        &counted.thread_xu, &counted.thread_lsu, &counted.thread_all}) {
    const uint8_t kind = input->Take<uint8_t>();
    if ((kind & 1) == 0) continue;
    if ((kind & 2) == 0) {
      *count = CountedInstructions{1.0 * input->Take<uint16_t>(), 1.0 * input->Take<uint8_t>()};
    } else {
      *count = CountedInstructions{input->Take<double>(), input->Take<double>()};
    }
  }
  return counted;
}

InstructionCounts TakeInstructions(FuzzBytes* input) {
  InstructionCounts counts;
  const uint8_t kind = input->Take<uint8_t>();
  counts.all = kind & 3;
  counts.fma = kind >> 2 & 1;
  counts.fp32 = kind >> 3 & 1;
  counts.fp32_flops = kind >> 4 & 3;
  if ((kind & 0x40) != 0) counts.any_pipe = input->Take<uint8_t>();
  if ((kind & 0x80) != 0) counts.unknown = input->Take<uint32_t>();
  return counts;
}

uint32_t TakePlace(FuzzBytes* input) {
  const uint8_t place = input->Take<uint8_t>();
  return place == 0xff ? kThreadEnds : place;
}

KernelCode TakeDescription(FuzzBytes* input) {
  KernelCode code;
  code.compute_capability = 90;
  const size_t blocks = input->Take<uint8_t>();
  for (size_t index = 0; index < blocks && !input->empty(); ++index) {
    CodeBlock& block = code.blocks.emplace_back();
    block.always = TakeInstructions(input);
    const uint8_t kind = input->Take<uint8_t>();
    for (int choice = 0; choice < (kind & 3); ++choice) {
      block.choices.push_back({TakeInstructions(input), TakeInstructions(input),
                               static_cast<WayOut>(input->Take<uint8_t>() & 3)});
    }
    for (int way = 0; way < (kind >> 2 & 3); ++way) block.successors.push_back(TakePlace(input));
    if ((kind & 0x10) != 0) block.callee = TakePlace(input);
    for (int opening = 0; opening < (kind >> 5 & 1); ++opening) {
      block.joined_since.push_back(TakePlace(input));
    }
  }
  return code;
}

void Bound(const KernelCode& code, const CountedLaunch& counted) {
  const std::optional<FlopBounds> bounds = BoundFlops(code, counted);
  if (!bounds.has_value()) return;
  const auto right = [](double least, double most) {
    return std::isfinite(least) && std::isfinite(most) && least >= 0 && least <= most;
  };
  if (!right(bounds->fp32_least, bounds->fp32_most)) std::abort();
  if (!right(bounds->half_least, bounds->half_most)) std::abort();
}

}  // namespace
}  // namespace utlz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  utlz::FuzzBytes input(bytes, size);
  const bool description = (input.Take<uint8_t>() & 1) != 0;
  const utlz::CountedLaunch counted = utlz::TakeCounts(&input);
  if (description) {
    utlz::Bound(utlz::TakeDescription(&input), counted);
    return 0;
  }
  const std::string code(input.TakeRest());
  const std::optional<utlz::KernelCode> described = utlz::DescribeCode({code}, 90);
  if (described.has_value()) utlz::Bound(*described, counted);
  return 0;
}
