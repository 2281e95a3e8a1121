// Any bytes as a library, a fatbin or a cubin. Input whose first byte is odd is put into an honest
// library, cut into entries, or hardly any would get as far as the code.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "collector/kernel_code/library_code.h"
#include "collector/unique_fd.h"
#include "tests/support/fuzz_bytes.h"
#include "tests/support/machine_code.h"

namespace utlz {
namespace {

const KernelNames& Names() {
  static const auto* const names = new KernelNames{"a", "b", ".text.a", ""};
  return *names;
}

std::string MakeLibrary(FuzzBytes* input) {
  std::vector<FatbinEntry> entries;
  while (!input->empty() && entries.size() < 8) {
    FatbinEntry& entry = entries.emplace_back();
    const uint8_t kind = input->Take<uint8_t>();
    entry.flags = (kind & 1) != 0 ? 0x8000 : 0;
    entry.cubin_bytes = input->Take<uint16_t>();
    entry.bytes = std::string(input->TakeBytes(input->Take<uint16_t>()));
    if ((kind & 2) != 0) {
      entry.bytes = MakeElf(kCubinMachine, {{".text.a", entry.bytes},
                                            {".rela.text.a", entry.bytes, SHT_RELA, 1},
                                            {".text.b", entry.bytes}});
    }
  }
  return MakeElf(EM_X86_64, {{".nv_fatbin", MakeFatbin(entries)}});
}

void Search(const std::string& bytes) {
  int found = 0;
  (void)FindKernelCodeInBytes(bytes, 90, Names(), [&](const std::string& name, KernelCode code) {
    if (Names().count(name) == 0 || ++found > 4) std::abort();
    if (code.blocks.empty() || code.blocks.size() > kMostCodeBlocks) std::abort();
  });
}

// Looking twice finds what one search of all finds.
void SearchTwice(const std::string& library) {
  const auto names_into = [](std::set<std::string>* names) {
    return [names](const std::string& name, KernelCode) {
      if (!names->insert(name).second) std::abort();
    };
  };
  std::set<std::string> at_once, none, later;
  (void)FindKernelCodeInBytes(library, 90, Names(), names_into(&at_once));
  const UniqueFd file(memfd_create("library", MFD_CLOEXEC));
  if (write(file.get(), library.data(), library.size()) != static_cast<ssize_t>(library.size())) {
    return;
  }
  LibraryKernels kernels(file.get(), 90);
  (void)kernels.Find({}, names_into(&none));
  (void)kernels.Find(Names(), names_into(&later));
  if (!none.empty() || later != at_once) std::abort();
}

}  // namespace
}  // namespace utlz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  utlz::FuzzBytes input(bytes, size);
  const bool honest = (input.Take<uint8_t>() & 1) != 0;
  const std::string library = honest ? utlz::MakeLibrary(&input) : std::string(input.TakeRest());
  utlz::Search(library);
  if (honest) utlz::SearchTwice(library);
  return 0;
}
