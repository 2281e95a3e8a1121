// Writes machine code of compute capability 9.0, and cubins and fatbins around it.
#ifndef UTLZ_TESTS_SUPPORT_MACHINE_CODE_H_
#define UTLZ_TESTS_SUPPORT_MACHINE_CODE_H_

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace utlz {

// Whole opcodes.
constexpr uint32_t kFmul = 0x220;
constexpr uint32_t kFadd = 0x221;
constexpr uint32_t kFfma = 0x223;
constexpr uint32_t kImad = 0x224;
constexpr uint32_t kIadd3 = 0x210;
constexpr uint32_t kIsetp = 0x20c;
constexpr uint32_t kMufu = 0x308;
constexpr uint32_t kLdg = 0x981;
constexpr uint32_t kHfma2Mma = 0x435;
constexpr uint32_t kUnknownOpcode = 0x2fe;

// The guard of an instruction: predicate 0 to 6, or 7 for none; 8 more where it must not hold.
constexpr uint32_t kNoGuard = 7;
constexpr uint32_t kNot = 8;

class CodeWriter {
 public:
  uint32_t size() const { return static_cast<uint32_t>(words_.size() * 16); }

  // Returns where it lies.
  uint32_t Add(uint32_t opcode, uint32_t guard = kNoGuard) {
    // No predicate is its result, and its operands are registers other than that of zero.
    return AddWords(opcode | guard << 12, uint64_t{7} << 17 | uint64_t{7} << 20);
  }
  uint32_t AddSetPredicate(uint32_t predicate, uint32_t guard = kNoGuard) {
    return AddWords(kIsetp | guard << 12, uint64_t{predicate} << 17 | uint64_t{7} << 20);
  }
  uint32_t AddExit(uint32_t guard = kNoGuard) {
    return AddWords(0x94d | guard << 12, uint64_t{7} << 23);
  }
  uint32_t AddReturn() { return AddWords(0x950 | kNoGuard << 12, 0); }
  uint32_t AddMove(uint32_t constant) {
    return AddWords(0x802 | kNoGuard << 12 | uint64_t{constant} << 32, 0);
  }
  uint32_t AddWait(uint32_t barrier) { return AddWords(0x941 | kNoGuard << 12 | barrier << 16, 0); }

  // Their targets are set later.
  uint32_t AddBranch(uint32_t guard = kNoGuard) {
    return AddWords(0x947 | guard << 12, uint64_t{7} << 23);
  }
  uint32_t AddCall() { return AddWords(0x944 | kNoGuard << 12, 0); }
  uint32_t AddRegion(uint32_t barrier) {
    return AddWords(0x945 | kNoGuard << 12 | barrier << 16, 0);
  }

  void SetTarget(uint32_t place, uint32_t target) {
    auto& [low, high] = words_[place / 16];
    const int64_t offset = (int64_t{target} - place - 16) / 4;
    const bool whole = (low & 0xfff) == 0x945;
    if (!whole) low |= static_cast<uint64_t>(offset & 0xff) << 16;
    const uint64_t bits = static_cast<uint64_t>(whole ? offset : offset >> 8) & ((1ull << 48) - 1);
    low |= bits << 34;
    high |= bits >> 30;
  }
  void SetConstant(uint32_t place, uint32_t constant) {
    words_[place / 16].first |= uint64_t{constant} << 32;
  }

  uint32_t AddWords(uint64_t low, uint64_t high) {
    words_.emplace_back(low, high);
    return size() - 16;
  }

  std::string Bytes() const {
    std::string bytes(size(), '\0');
    for (size_t index = 0; index < words_.size(); ++index) {
      std::memcpy(bytes.data() + index * 16, &words_[index].first, 8);
      std::memcpy(bytes.data() + index * 16 + 8, &words_[index].second, 8);
    }
    return bytes;
  }

 private:
  std::vector<std::pair<uint64_t, uint64_t>> words_;
};

struct ElfPart {
  std::string name;
  std::string bytes;
  uint32_t type = SHT_PROGBITS;
  uint32_t info = 0;
};

// An ELF file with these sections, the first of them of index 1.
inline std::string MakeElf(uint16_t machine, const std::vector<ElfPart>& parts) {
  std::string names(1, '\0');
  std::string bytes(sizeof(Elf64_Ehdr), '\0');
  std::vector<Elf64_Shdr> headers(1);
  const auto add = [&](const ElfPart& part, const std::string& content) {
    Elf64_Shdr header = {};
    header.sh_name = static_cast<uint32_t>(names.size());
    header.sh_type = part.type;
    header.sh_info = part.info;
    header.sh_offset = bytes.size();
    header.sh_size = content.size();
    names += part.name + '\0';
    bytes += content;
    headers.push_back(header);
  };
  for (const ElfPart& part : parts) add(part, part.bytes);
  // Its own name is the last of them.
  const std::string own_name = ".shstrtab";
  add({own_name, "", SHT_STRTAB}, names + own_name + '\0');
  Elf64_Ehdr file = {};
  std::memcpy(file.e_ident, ELFMAG, SELFMAG);
  file.e_ident[EI_CLASS] = ELFCLASS64;
  file.e_ident[EI_DATA] = ELFDATA2LSB;
  file.e_machine = machine;
  file.e_shoff = bytes.size();
  file.e_shentsize = sizeof(Elf64_Shdr);
  file.e_shnum = static_cast<uint16_t>(headers.size());
  file.e_shstrndx = static_cast<uint16_t>(headers.size() - 1);
  std::memcpy(bytes.data(), &file, sizeof(file));
  bytes.append(reinterpret_cast<const char*>(headers.data()), headers.size() * sizeof(Elf64_Shdr));
  return bytes;
}

constexpr uint16_t kCubinMachine = 190;

// A cubin with one kernel.
inline std::string MakeCubin(const std::string& kernel, const std::string& code) {
  return MakeElf(kCubinMachine, {{".text." + kernel, code}});
}

struct FatbinEntry {
  std::string bytes;  // as they lie in the fatbin
  uint32_t compute_capability = 90;
  uint64_t flags = 0;
  uint64_t cubin_bytes = 0;  // where they are compressed
  uint16_t kind = 2;
};

inline std::string MakeFatbin(const std::vector<FatbinEntry>& entries) {
  std::string body;
  const auto put = [](auto value, size_t offset, std::string* to) {
    std::memcpy(to->data() + offset, &value, sizeof(value));
  };
  for (const FatbinEntry& entry : entries) {
    std::string header(64, '\0');
    const uint64_t padded = (entry.bytes.size() + 7) / 8 * 8;
    put(entry.kind, 0, &header);
    put(uint32_t{64}, 4, &header);
    put(padded, 8, &header);
    put(static_cast<uint32_t>(entry.bytes.size()), 16, &header);
    put(entry.compute_capability, 28, &header);
    put(entry.flags, 40, &header);
    put(entry.cubin_bytes, 56, &header);
    body += header + entry.bytes + std::string(padded - entry.bytes.size(), '\0');
  }
  std::string fatbin(16, '\0');
  put(uint32_t{0xba55ed50}, 0, &fatbin);
  put(uint16_t{1}, 4, &fatbin);
  put(uint16_t{16}, 6, &fatbin);
  put(uint64_t{body.size()}, 8, &fatbin);
  return fatbin + body;
}

}  // namespace utlz

#endif  // UTLZ_TESTS_SUPPORT_MACHINE_CODE_H_
