#include "tools/attach/target/elf_image.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

namespace utlz::attach {
namespace {

constexpr uint16_t kMaxProgramHeaders = 256;
constexpr size_t kMaxDynamicEntries = 512;
constexpr uint64_t kMaxStringBytes = 8u << 20;
constexpr uint32_t kMaxSymbols = 200'000;
constexpr uint32_t kMaxHashBuckets = 200'000;

absl::Status Malformed(uint64_t base_address, const char* what) {
  return absl::DataLossError(
      absl::StrFormat("the shared object at %#x in the target has %s", base_address, what));
}

template <typename Value>
bool ReadArray(const MemoryReader& memory, uint64_t address, std::vector<Value>& values) {
  return memory.Read(address, absl::MakeSpan(reinterpret_cast<uint8_t*>(values.data()),
                                             values.size() * sizeof(Value)));
}

// Where the dynamic section says that the tables are.
struct DynamicTables {
  uint64_t symbols = 0;
  uint64_t strings = 0;
  uint64_t string_bytes = 0;
  uint64_t gnu_hash = 0;
  uint64_t hash = 0;
};

// The loader relocates these pointers in place on most architectures, and on some it does not.
uint64_t Absolute(uint64_t base_address, uint64_t pointer) {
  return pointer >= base_address ? pointer : base_address + pointer;
}

DynamicTables ReadDynamic(const MemoryReader& memory, uint64_t base_address,
                          uint64_t dynamic_address) {
  DynamicTables tables;
  for (size_t i = 0; i < kMaxDynamicEntries; ++i) {
    const auto entry = memory.ReadValue<Elf64_Dyn>(dynamic_address + i * sizeof(Elf64_Dyn));
    if (!entry || entry->d_tag == DT_NULL) break;
    const uint64_t pointer = Absolute(base_address, entry->d_un.d_ptr);
    if (entry->d_tag == DT_SYMTAB) tables.symbols = pointer;
    if (entry->d_tag == DT_STRTAB) tables.strings = pointer;
    if (entry->d_tag == DT_STRSZ) tables.string_bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_GNU_HASH) tables.gnu_hash = pointer;
    if (entry->d_tag == DT_HASH) tables.hash = pointer;
  }
  return tables;
}

// The GNU hash table does not say how many symbols there are: the last one ends the chain of the
// bucket that starts last.
std::optional<uint32_t> CountByGnuHash(const MemoryReader& memory, uint64_t address) {
  struct Header {
    uint32_t bucket_count, first_symbol, bloom_words, bloom_shift;
  };
  const auto header = memory.ReadValue<Header>(address);
  if (!header || header->bucket_count > kMaxHashBuckets || header->bloom_words > kMaxHashBuckets) {
    return std::nullopt;
  }
  std::vector<uint32_t> buckets(header->bucket_count);
  const uint64_t buckets_address =
      address + sizeof(Header) + uint64_t{header->bloom_words} * sizeof(uint64_t);
  if (!ReadArray(memory, buckets_address, buckets)) return std::nullopt;
  uint32_t symbol = 0;
  for (const uint32_t bucket : buckets) symbol = std::max(symbol, bucket);
  if (symbol < header->first_symbol) return header->first_symbol;
  const uint64_t chains_address = buckets_address + buckets.size() * sizeof(uint32_t);
  for (; symbol < kMaxSymbols; ++symbol) {
    const uint64_t index = symbol - header->first_symbol;
    const auto link = memory.ReadValue<uint32_t>(chains_address + index * sizeof(uint32_t));
    if (!link) return std::nullopt;
    if (*link & 1) return symbol + 1;
  }
  return std::nullopt;
}

std::optional<uint32_t> CountSymbols(const MemoryReader& memory, const DynamicTables& tables) {
  if (tables.hash != 0) {
    const auto chain_count = memory.ReadValue<uint32_t>(tables.hash + sizeof(uint32_t));
    if (chain_count && *chain_count <= kMaxSymbols) return chain_count;
  }
  if (tables.gnu_hash != 0) return CountByGnuHash(memory, tables.gnu_hash);
  return std::nullopt;
}

}  // namespace

std::optional<ElfIdentity> ReadElfIdentity(const MemoryReader& memory, uint64_t base_address) {
  const auto header = memory.ReadValue<Elf32_Ehdr>(base_address);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  return ElfIdentity{header->e_ident[EI_CLASS] == ELFCLASS64, header->e_machine};
}

absl::StatusOr<ElfImage> ElfImage::Read(const MemoryReader& memory, uint64_t base_address) {
  const auto header = memory.ReadValue<Elf64_Ehdr>(base_address);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_phentsize != sizeof(Elf64_Phdr) ||
      header->e_phnum > kMaxProgramHeaders) {
    return Malformed(base_address, "no readable 64-bit ELF header");
  }
  std::vector<Elf64_Phdr> segments(header->e_phnum);
  if (!ReadArray(memory, base_address + header->e_phoff, segments)) {
    return Malformed(base_address, "no readable program headers");
  }
  const auto dynamic = std::find_if(segments.begin(), segments.end(),
                                    [](const Elf64_Phdr& s) { return s.p_type == PT_DYNAMIC; });
  if (dynamic == segments.end()) return Malformed(base_address, "no dynamic section");
  const DynamicTables tables = ReadDynamic(memory, base_address, base_address + dynamic->p_vaddr);
  if (tables.symbols == 0 || tables.strings == 0 || tables.string_bytes > kMaxStringBytes) {
    return Malformed(base_address, "no usable symbol table");
  }
  const auto symbol_count = CountSymbols(memory, tables);
  if (!symbol_count) return Malformed(base_address, "no usable symbol hash table");

  ElfImage image;
  image.strings_.resize(tables.string_bytes);
  std::vector<Elf64_Sym> symbols(*symbol_count);
  if (!memory.Read(tables.strings, absl::MakeSpan(reinterpret_cast<uint8_t*>(image.strings_.data()),
                                                  image.strings_.size())) ||
      !ReadArray(memory, tables.symbols, symbols)) {
    return Malformed(base_address, "an unreadable symbol table");
  }
  for (const Elf64_Sym& symbol : symbols) {
    if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC ||
        symbol.st_name >= image.strings_.size()) {
      continue;
    }
    const uint64_t start = base_address + symbol.st_value;
    image.functions_.push_back(
        {image.strings_.c_str() + symbol.st_name, {start, start + symbol.st_size}});
  }
  std::sort(image.functions_.begin(), image.functions_.end(),
            [](const Function& a, const Function& b) { return a.range.start < b.range.start; });
  return image;
}

std::optional<uint64_t> ElfImage::FindFunction(const std::string& name) const {
  for (const Function& function : functions_) {
    if (function.name == name) return function.range.start;
  }
  return std::nullopt;
}

std::optional<int> ElfImage::HighestGlibcMinorVersion() const {
  constexpr char kPrefix[] = "GLIBC_2.";
  std::optional<int> highest;
  for (size_t position = strings_.find(kPrefix); position != std::string::npos;
       position = strings_.find(kPrefix, position + 1)) {
    const int minor = std::atoi(strings_.c_str() + position + sizeof(kPrefix) - 1);
    if (minor < 1000) highest = std::max(highest.value_or(0), minor);
  }
  return highest;
}

}  // namespace utlz::attach
