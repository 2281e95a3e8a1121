#include "tools/attach/library_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "tools/attach/target/proc_file.h"
#include "tools/attach/unwind/arch.h"

namespace utlz::attach {
namespace {

constexpr size_t kMaxLibraryBytes = 256u << 20;
// From Linux 6.3 on, a memory file is to say whether it may be executed as a program. This one may
// not; mapping its code is another matter. Older kernels refuse the bit.
constexpr unsigned kNoExecSeal = 0x08;  // MFD_NOEXEC_SEAL

template <typename Value>
std::optional<Value> ValueAt(const std::vector<uint8_t>& bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Value)) return std::nullopt;
  Value value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

bool NameIs(const std::vector<uint8_t>& bytes, uint64_t offset, const char* name) {
  const size_t size = std::strlen(name) + 1;
  return offset <= bytes.size() && bytes.size() - offset >= size &&
         std::memcmp(bytes.data() + offset, name, size) == 0;
}

// File offset of the AttachConfig's section.
std::optional<uint64_t> FindConfig(const std::vector<uint8_t>& bytes, const Elf64_Ehdr& header) {
  const auto section_at = [&](uint64_t index) {
    return ValueAt<Elf64_Shdr>(bytes, header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  const auto names = section_at(header.e_shstrndx);
  if (!names) return std::nullopt;
  for (uint16_t i = 0; i < header.e_shnum; ++i) {
    const auto section = section_at(i);
    if (!section) return std::nullopt;
    if (section->sh_type == SHT_PROGBITS && section->sh_size >= sizeof(AttachConfig) &&
        NameIs(bytes, names->sh_offset + section->sh_name, kAttachSection)) {
      return section->sh_offset;
    }
  }
  return std::nullopt;
}

bool WriteAll(int fd, const uint8_t* bytes, size_t size, uint64_t offset) {
  while (size > 0) {
    const ssize_t count = pwrite(fd, bytes, size, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes += count;
    offset += static_cast<uint64_t>(count);
    size -= static_cast<size_t>(count);
  }
  return true;
}

}  // namespace

absl::StatusOr<LibraryFile> LibraryFile::Open(const std::string& path) {
  auto text = ReadSmallFile(path, kMaxLibraryBytes);
  if (!text.ok()) return text.status();
  LibraryFile file;
  file.bytes_.assign(text->begin(), text->end());
  const auto header = ValueAt<Elf64_Ehdr>(file.bytes_, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_type != ET_DYN ||
      header->e_machine != kElfMachine) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is no shared library of this architecture; reinstall utlz"));
  }
  const auto offset = FindConfig(file.bytes_, *header);
  const auto config = offset ? ValueAt<AttachConfig>(file.bytes_, *offset) : std::nullopt;
  if (!config || std::memcmp(config->magic, kEmptyAttachConfig.magic, sizeof(config->magic)) != 0 ||
      config->version != kAttachVersion || config->size_bytes != sizeof(AttachConfig)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " does not take this version's attach configuration; reinstall utlz"));
  }
  file.config_offset_ = *offset;
  return file;
}

absl::StatusOr<UniqueFd> LibraryFile::CreateMemoryFile(const std::string& name) const {
  UniqueFd file(memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING | kNoExecSeal));
  if (!file.valid() && errno == EINVAL) {
    file.Reset(memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  }
  if (!file.valid()) return absl::ErrnoToStatus(errno, "cannot create a memory file");
  if (!WriteAll(file.get(), bytes_.data(), bytes_.size(), 0)) {
    return absl::ErrnoToStatus(errno, "cannot write the library into a memory file");
  }
  // Readable by the target, whoever runs it.
  if (fchmod(file.get(), 0444) != 0) {
    return absl::ErrnoToStatus(errno, "cannot set the memory file's mode");
  }
  return file;
}

absl::Status LibraryFile::Finish(const UniqueFd& memory_file, const AttachConfig& config) const {
  if (!WriteAll(memory_file.get(), reinterpret_cast<const uint8_t*>(&config), sizeof(config),
                config_offset_)) {
    return absl::ErrnoToStatus(errno, "cannot write the configuration into the memory file");
  }
  if (fcntl(memory_file.get(), F_ADD_SEALS,
            F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
    return absl::ErrnoToStatus(errno, "cannot seal the memory file");
  }
  return absl::OkStatus();
}

}  // namespace utlz::attach
