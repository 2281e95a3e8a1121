#include "collector/kernel_code/elf_sections.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace utlz {
namespace {

constexpr uint64_t kMostNameBytes = uint64_t{64} << 20;
constexpr size_t kMostNameLength = 16 << 10;  // longer names are taken for none

bool IsWithin(const Elf64_Shdr& header, uint64_t size) {
  return header.sh_size <= size && header.sh_offset <= size - header.sh_size;
}

std::string_view NameAt(const std::vector<char>& names, uint32_t offset) {
  if (offset >= names.size()) return {};
  const char* const begin = names.data() + offset;
  const size_t most = std::min(names.size() - offset, kMostNameLength + 1);
  const void* const end = std::memchr(begin, '\0', most);
  if (end == nullptr) return {};
  return std::string_view(begin, static_cast<size_t>(static_cast<const char*>(end) - begin));
}

}  // namespace

std::optional<ElfSections> ReadElfSections(const ByteSource& source) {
  Elf64_Ehdr file;
  if (!source.ReadValue(0, &file)) return std::nullopt;
  const bool usable =
      std::memcmp(file.e_ident, ELFMAG, SELFMAG) == 0 && file.e_ident[EI_CLASS] == ELFCLASS64 &&
      file.e_ident[EI_DATA] == ELFDATA2LSB && file.e_shentsize == sizeof(Elf64_Shdr) &&
      file.e_shnum < SHN_LORESERVE && file.e_shstrndx < file.e_shnum;
  if (!usable) return std::nullopt;
  std::vector<Elf64_Shdr> headers(file.e_shnum);
  if (!source.Read(file.e_shoff, headers.size() * sizeof(Elf64_Shdr), headers.data())) {
    return std::nullopt;
  }
  ElfSections elf;
  elf.machine = file.e_machine;
  const Elf64_Shdr& names = headers[file.e_shstrndx];
  if (names.sh_size > kMostNameBytes || !IsWithin(names, source.size())) return std::nullopt;
  elf.names.resize(names.sh_size);
  if (!source.Read(names.sh_offset, elf.names.size(), elf.names.data())) return std::nullopt;
  for (const Elf64_Shdr& header : headers) {
    ElfSection section{NameAt(elf.names, header.sh_name), header.sh_type, header.sh_info,
                       header.sh_offset, header.sh_size};
    if (header.sh_type == SHT_NOBITS || !IsWithin(header, source.size())) section.size = 0;
    elf.sections.push_back(section);
  }
  return elf;
}

}  // namespace utlz
