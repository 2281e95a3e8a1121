#include "collector/kernel_code/cubin.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "collector/kernel_code/byte_source.h"
#include "collector/kernel_code/elf_sections.h"

namespace utlz {
namespace {

constexpr uint16_t kCudaMachine = 190;  // EM_CUDA
constexpr std::string_view kCode = ".text.";
constexpr size_t kMostRelocations = 100'000;  // of a kernel

bool HoldsCode(const ElfSection& section) {
  return section.name.substr(0, kCode.size()) == kCode && section.size > 0;
}

// Each entry of a section of relocations begins with the place that it changes.
bool AddPlaces(std::string_view entries, size_t entry_bytes, std::vector<uint64_t>* places) {
  if (entries.size() / entry_bytes > kMostRelocations - places->size()) return false;
  for (size_t offset = 0; entries.size() - offset >= entry_bytes; offset += entry_bytes) {
    uint64_t place = 0;
    std::memcpy(&place, entries.data() + offset, sizeof(place));
    places->push_back(place);
  }
  return true;
}

// Absent where there are too many.
std::optional<std::vector<uint64_t>> RelocatedPlaces(std::string_view bytes, const ElfSections& elf,
                                                     size_t section) {
  std::vector<uint64_t> places;
  for (const ElfSection& other : elf.sections) {
    if (other.info != section) continue;
    const std::string_view entries = bytes.substr(other.offset, other.size);
    const bool added = other.type == SHT_RELA  ? AddPlaces(entries, sizeof(Elf64_Rela), &places)
                       : other.type == SHT_REL ? AddPlaces(entries, sizeof(Elf64_Rel), &places)
                                               : true;
    if (!added) return std::nullopt;
  }
  return places;
}

}  // namespace

bool IsCubin(std::string_view bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof(header)) return false;
  std::memcpy(&header, bytes.data(), sizeof(header));
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_machine == kCudaMachine;
}

void NameKernels(std::string_view bytes, const std::function<void(std::string_view name)>& named) {
  if (!IsCubin(bytes)) return;
  const std::optional<ElfSections> elf = ReadElfSections(ByteSource::OfBytes(bytes));
  if (!elf.has_value()) return;
  for (const ElfSection& section : elf->sections) {
    if (HoldsCode(section)) named(section.name.substr(kCode.size()));
  }
}

void FindKernels(std::string_view bytes, const KernelNames& mangled_names,
                 const std::function<void(std::string_view name, const MachineCode& code)>& found) {
  if (!IsCubin(bytes)) return;
  const std::optional<ElfSections> elf = ReadElfSections(ByteSource::OfBytes(bytes));
  if (!elf.has_value()) return;
  std::set<std::string_view> seen;
  for (size_t index = 0; index < elf->sections.size(); ++index) {
    const ElfSection& section = elf->sections[index];
    if (!HoldsCode(section)) continue;
    const std::string_view name = section.name.substr(kCode.size());
    if (mangled_names.find(name) == mangled_names.end() || !seen.insert(name).second) continue;
    std::optional<std::vector<uint64_t>> relocated = RelocatedPlaces(bytes, *elf, index);
    if (!relocated.has_value()) continue;
    found(name, {bytes.substr(section.offset, section.size), *std::move(relocated)});
  }
}

}  // namespace utlz
