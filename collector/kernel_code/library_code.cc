#include "collector/kernel_code/library_code.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/kernel_code/byte_source.h"
#include "collector/kernel_code/cubin.h"
#include "collector/kernel_code/describe_code.h"
#include "collector/kernel_code/elf_sections.h"
#include "collector/kernel_code/fatbin.h"

namespace utlz {
namespace {

bool HasFatbins(const ElfSection& section) {
  return section.size > 0 && (section.name == ".nv_fatbin" || section.name == "__nv_relfatbin");
}

// What one search still looks for.
class Search {
 public:
  Search(int compute_capability, const KernelNames& mangled_names, const KernelCodeCallback& found)
      : compute_capability_(compute_capability), wanted_(mangled_names), found_(found) {}

  bool over() const { return wanted_.empty(); }

  void LookIntoCubin(std::string_view bytes) {
    // Of a kernel that several cubins have, the first counts: they are made from one source.
    std::vector<std::string> seen;
    FindKernels(bytes, wanted_, [&](std::string_view name, const MachineCode& code) {
      seen.emplace_back(name);
      std::optional<KernelCode> described = DescribeCode(code, compute_capability_);
      if (described.has_value()) found_(seen.back(), *std::move(described));
    });
    for (const std::string& name : seen) wanted_.erase(name);
  }

 private:
  const int compute_capability_;
  KernelNames wanted_;
  const KernelCodeCallback& found_;
};

absl::Status SearchFatbin(const ByteSource& source, uint64_t offset, uint64_t size,
                          FatbinReader* reader, Search* search) {
  return reader->Read(source, offset, size, [&](std::string_view cubin) {
    search->LookIntoCubin(cubin);
    return !search->over();
  });
}

absl::Status SearchProgram(const ByteSource& source, FatbinReader* reader, Search* search) {
  const std::optional<ElfSections> elf = ReadElfSections(source);
  if (!elf.has_value()) {
    return absl::InvalidArgumentError("a library is no 64-bit ELF file that can be read");
  }
  for (const ElfSection& section : elf->sections) {
    if (!HasFatbins(section) || search->over()) continue;
    const absl::Status status = SearchFatbin(source, section.offset, section.size, reader, search);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

bool HoldsKernelCode(int library_fd) {
  const absl::StatusOr<ByteSource> source = ByteSource::OfFile(library_fd);
  if (!source.ok()) return false;
  const std::optional<ElfSections> elf = ReadElfSections(*source);
  return elf.has_value() && std::any_of(elf->sections.begin(), elf->sections.end(), HasFatbins);
}

absl::Status FindKernelCode(int library_fd, int compute_capability,
                            const KernelNames& mangled_names, const KernelCodeCallback& found) {
  const absl::StatusOr<ByteSource> source = ByteSource::OfFile(library_fd);
  if (!source.ok()) return source.status();
  Search search(compute_capability, mangled_names, found);
  FatbinReader reader(compute_capability);
  return search.over() ? absl::OkStatus() : SearchProgram(*source, &reader, &search);
}

absl::Status FindKernelCodeInBytes(std::string_view bytes, int compute_capability,
                                   const KernelNames& mangled_names,
                                   const KernelCodeCallback& found) {
  const ByteSource source = ByteSource::OfBytes(bytes);
  Search search(compute_capability, mangled_names, found);
  FatbinReader reader(compute_capability);
  if (search.over()) return absl::OkStatus();
  if (IsCubin(bytes)) {
    search.LookIntoCubin(bytes);
    return absl::OkStatus();
  }
  if (IsFatbin(source)) return SearchFatbin(source, 0, source.size(), &reader, &search);
  return SearchProgram(source, &reader, &search);
}

}  // namespace utlz
