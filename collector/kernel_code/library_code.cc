#include "collector/kernel_code/library_code.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
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

FatbinReader::Cubin LooksInto(Search* search) {
  return [search](uint64_t, std::string_view cubin) {
    search->LookIntoCubin(cubin);
    return !search->over();
  };
}

// Hands the cubins of a program to `cubin` until it returns false.
absl::Status ReadProgram(const ByteSource& source, FatbinReader* reader,
                         const FatbinReader::Cubin& cubin) {
  const std::optional<ElfSections> elf = ReadElfSections(source);
  if (!elf.has_value()) {
    return absl::InvalidArgumentError("a library is no 64-bit ELF file that can be read");
  }
  bool is_enough = false;
  const auto read = [&](uint64_t place, std::string_view bytes) {
    is_enough = !cubin(place, bytes);
    return !is_enough;
  };
  for (const ElfSection& section : elf->sections) {
    if (!HasFatbins(section) || is_enough) continue;
    const absl::Status status = reader->Read(source, section.offset, section.size, read);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

constexpr size_t kMostNoted = 4'000'000;  // PyTorch's libraries have some hundred thousand

}  // namespace

bool HoldsKernelCode(int library_fd) {
  const absl::StatusOr<ByteSource> source = ByteSource::OfFile(library_fd);
  if (!source.ok()) return false;
  const std::optional<ElfSections> elf = ReadElfSections(*source);
  return elf.has_value() && std::any_of(elf->sections.begin(), elf->sections.end(), HasFatbins);
}

absl::Status LibraryKernels::Find(const KernelNames& mangled_names,
                                  const KernelCodeCallback& found) {
  return is_read_ ? ReadNoted(mangled_names, found) : ReadAll(mangled_names, found);
}

// If reading ends early, later calls do not find what follows in the file either.
absl::Status LibraryKernels::ReadAll(const KernelNames& mangled_names,
                                     const KernelCodeCallback& found) {
  is_read_ = true;
  const absl::StatusOr<ByteSource> source = ByteSource::OfFile(library_fd_);
  if (!source.ok()) return source.status();
  Search search(compute_capability_, mangled_names, found);
  FatbinReader reader(compute_capability_);
  absl::Status status = ReadProgram(*source, &reader, [&](uint64_t place, std::string_view cubin) {
    Note(cubin, place);
    if (!search.over()) search.LookIntoCubin(cubin);
    return noted_.size() < kMostNoted;
  });
  std::stable_sort(noted_.begin(), noted_.end(),
                   [](const Noted& a, const Noted& b) { return a.name_hash < b.name_hash; });
  return status;
}

void LibraryKernels::Note(std::string_view cubin, uint64_t place) {
  NameKernels(cubin, [&](std::string_view name) {
    noted_.push_back({std::hash<std::string_view>()(name), place});
  });
}

absl::Status LibraryKernels::ReadNoted(const KernelNames& mangled_names,
                                       const KernelCodeCallback& found) const {
  std::set<uint64_t> places;
  for (const std::string& name : mangled_names) {
    const auto [first, last] = std::equal_range(
        noted_.begin(), noted_.end(), Noted{std::hash<std::string_view>()(name), 0},
        [](const Noted& a, const Noted& b) { return a.name_hash < b.name_hash; });
    for (auto noted = first; noted != last; ++noted) places.insert(noted->place);
  }
  if (places.empty()) return absl::OkStatus();
  const absl::StatusOr<ByteSource> source = ByteSource::OfFile(library_fd_);
  if (!source.ok()) return source.status();
  Search search(compute_capability_, mangled_names, found);
  FatbinReader reader(compute_capability_);
  for (const uint64_t place : places) {
    if (search.over()) break;
    search.LookIntoCubin(reader.ReadAgain(*source, place));
  }
  return absl::OkStatus();
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
  if (IsFatbin(source)) return reader.Read(source, 0, source.size(), LooksInto(&search));
  return ReadProgram(source, &reader, LooksInto(&search));
}

}  // namespace utlz
