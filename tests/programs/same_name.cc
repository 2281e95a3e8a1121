// Two modules each have a kernel of one name, with different work and different registers.
#include "tests/programs/target.h"

namespace utlz::fake {
namespace {

int Run() {
  static const std::vector<KernelImage> first = {{.name = "_Z5fusedPf",
                                                  .duration_ns = 10'000,
                                                  .dram_read_bytes = 1e6,
                                                  .registers_per_thread = 40}};
  static const std::vector<KernelImage> second = {{.name = "_Z5fusedPf",
                                                   .duration_ns = 90'000,
                                                   .dram_read_bytes = 9e6,
                                                   .registers_per_thread = 96}};
  Target one(first);
  Target other(second);
  for (int i = 0; i < 50; ++i) {
    one.Launch(0);
    other.Launch(0, 2);
  }
  one.Synchronize();
  one.expectation.CountLaunches(other.Image(0), 100);
  one.expectation.Print();
  return 0;
}

}  // namespace
}  // namespace utlz::fake

int main() { return utlz::fake::Run(); }
