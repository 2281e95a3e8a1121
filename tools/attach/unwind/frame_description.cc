#include "tools/attach/unwind/frame_description.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "tools/attach/unwind/byte_cursor.h"

namespace utlz::attach {
namespace {

constexpr uint16_t kMaxProgramHeaders = 256;
constexpr uint32_t kMaxRecordBytes = 64 << 10;

// Pointer encodings (DW_EH_PE_*).
constexpr uint8_t kFormatMask = 0x0f;
constexpr uint8_t kAbsolute = 0x00;
constexpr uint8_t kUnsigned2 = 0x02;
constexpr uint8_t kUnsigned4 = 0x03;
constexpr uint8_t kUnsigned8 = 0x04;
constexpr uint8_t kSigned2 = 0x0a;
constexpr uint8_t kSigned4 = 0x0b;
constexpr uint8_t kSigned8 = 0x0c;
constexpr uint8_t kRelativeToSelf = 0x10;
constexpr uint8_t kRelativeToHeader = 0x30;

struct HeaderStart {
  uint8_t version;
  uint8_t frame_pointer_encoding;
  uint8_t count_encoding;
  uint8_t table_encoding;
  int32_t frame_pointer;
  uint32_t count;
};
static_assert(sizeof(HeaderStart) == 12);

// Both relative to the header.
struct TableEntry {
  int32_t code;
  int32_t description;
};

struct CommonInformation {
  FrameDescription start;  // what all descriptions that refer to it share
  uint8_t pointer_encoding = kAbsolute;
  bool has_augmentation_size = false;
};

// Address of the .eh_frame_hdr of the file that is mapped at `code_address`.
std::optional<uint64_t> FindHeader(const MemoryReader& memory, const MemoryMap& map,
                                   uint64_t code_address) {
  const Mapping* code = map.Find(code_address);
  if (code == nullptr || !code->executable) return std::nullopt;
  uint64_t base = code->range.start;
  if (code->inode != 0) {
    const auto parts = map.SameFile(*code);
    const auto first = std::find_if(parts.begin(), parts.end(), [](const Mapping* part) {
      return part->file_offset_bytes == 0;
    });
    if (first == parts.end()) return std::nullopt;
    base = (*first)->range.start;
  }
  const auto header = memory.ReadValue<Elf64_Ehdr>(base);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum > kMaxProgramHeaders) {
    return std::nullopt;
  }
  std::optional<uint64_t> first_address;
  std::optional<uint64_t> header_address;
  for (uint16_t i = 0; i < header->e_phnum; ++i) {
    const auto segment =
        memory.ReadValue<Elf64_Phdr>(base + header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) return std::nullopt;
    if (segment->p_type == PT_LOAD && segment->p_offset == 0) first_address = segment->p_vaddr;
    if (segment->p_type == PT_GNU_EH_FRAME) header_address = segment->p_vaddr;
  }
  if (!first_address || !header_address) return std::nullopt;
  return base - *first_address + *header_address;
}

// Address of the description that may cover the code: of the last one that starts before it.
std::optional<uint64_t> SearchTable(const MemoryReader& memory, uint64_t header_address,
                                    uint64_t code_address) {
  const auto header = memory.ReadValue<HeaderStart>(header_address);
  if (!header || header->version != 1 ||
      (header->frame_pointer_encoding & kFormatMask) != kSigned4 ||
      header->count_encoding != kUnsigned4 ||
      header->table_encoding != (kRelativeToHeader | kSigned4)) {
    return std::nullopt;
  }
  const uint64_t table = header_address + sizeof(HeaderStart);
  const auto wanted = static_cast<int64_t>(code_address - header_address);
  std::optional<uint64_t> found;
  uint64_t low = 0;
  uint64_t high = header->count;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    const auto entry = memory.ReadValue<TableEntry>(table + middle * sizeof(TableEntry));
    if (!entry) return std::nullopt;
    if (entry->code <= wanted) {
      found = header_address + static_cast<uint64_t>(int64_t{entry->description});
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return found;
}

// A record's bytes behind its length.
std::optional<std::vector<uint8_t>> ReadRecord(const MemoryReader& memory, uint64_t address) {
  const auto size = memory.ReadValue<uint32_t>(address);
  if (!size || *size < sizeof(uint32_t) || *size > kMaxRecordBytes) return std::nullopt;
  std::vector<uint8_t> bytes(*size);
  if (!memory.Read(address + sizeof(uint32_t), absl::MakeSpan(bytes))) return std::nullopt;
  return bytes;
}

// A pointer's value before anything is added to it.
std::optional<uint64_t> ReadPointer(ByteCursor& cursor, uint8_t encoding) {
  switch (encoding & kFormatMask) {
    case kAbsolute:
    case kUnsigned8:
    case kSigned8: return cursor.Read<uint64_t>();
    case kUnsigned2: return cursor.Read<uint16_t>();
    case kUnsigned4: return cursor.Read<uint32_t>();
    case kSigned2: return static_cast<uint64_t>(int64_t{cursor.Read<int16_t>()});
    case kSigned4: return static_cast<uint64_t>(int64_t{cursor.Read<int32_t>()});
    default: return std::nullopt;
  }
}

bool ReadAugmentation(ByteCursor& cursor, const std::string& augmentation,
                      CommonInformation& information) {
  if (augmentation.empty()) return true;
  if (augmentation[0] != 'z') return false;
  information.has_augmentation_size = true;
  ByteCursor data(cursor.Take(cursor.ReadUnsigned()));
  for (const char kind : augmentation.substr(1)) {
    if (kind == 'R') {
      information.pointer_encoding = data.Read<uint8_t>();
    } else if (kind == 'L') {
      data.Read<uint8_t>();
    } else if (kind == 'P') {
      if (!ReadPointer(data, data.Read<uint8_t>())) return false;
    } else if (kind == 'S') {
      information.start.is_signal_frame = true;
    } else if (kind != 'B' && kind != 'G') {  // keys that sign return addresses; tagged frames
      return false;
    }
  }
  return data.ok();
}

std::optional<CommonInformation> ReadCommonInformation(const MemoryReader& memory,
                                                       uint64_t address) {
  const auto bytes = ReadRecord(memory, address);
  if (!bytes) return std::nullopt;
  ByteCursor cursor(*bytes);
  CommonInformation information;
  const bool is_common = cursor.Read<uint32_t>() == 0;
  const auto version = cursor.Read<uint8_t>();
  if (!is_common || (version != 1 && version != 3)) return std::nullopt;
  const std::string augmentation = cursor.ReadText();
  information.start.code_alignment = cursor.ReadUnsigned();
  information.start.data_alignment = cursor.ReadSigned();
  information.start.return_register =
      version == 1 ? cursor.Read<uint8_t>() : cursor.ReadUnsigned();
  if (!ReadAugmentation(cursor, augmentation, information) || !cursor.ok()) return std::nullopt;
  const auto rest = cursor.Rest();
  information.start.initial_instructions.assign(rest.begin(), rest.end());
  return information;
}

}  // namespace

std::optional<FrameDescription> FindFrameDescription(const MemoryReader& memory,
                                                     const MemoryMap& map,
                                                     uint64_t code_address) {
  const auto header = FindHeader(memory, map, code_address);
  const auto address = header ? SearchTable(memory, *header, code_address) : std::nullopt;
  const auto bytes = address ? ReadRecord(memory, *address) : std::nullopt;
  if (!bytes) return std::nullopt;
  // The reference counts back from where it stands, right behind the length.
  const uint64_t body = *address + sizeof(uint32_t);
  ByteCursor cursor(*bytes);
  const auto distance = cursor.Read<uint32_t>();
  const auto information = ReadCommonInformation(memory, body - distance);
  if (distance == 0 || !information) return std::nullopt;

  FrameDescription description = information->start;
  const uint64_t pointer_address = body + cursor.position();
  const auto start = ReadPointer(cursor, information->pointer_encoding);
  const auto size = ReadPointer(cursor, information->pointer_encoding & kFormatMask);
  if (!start || !size) return std::nullopt;
  const bool is_relative = (information->pointer_encoding & 0x70) == kRelativeToSelf;
  description.code.start = *start + (is_relative ? pointer_address : 0);
  description.code.end = description.code.start + *size;
  if (information->has_augmentation_size) cursor.Take(cursor.ReadUnsigned());
  if (!cursor.ok() || !description.code.Contains(code_address)) return std::nullopt;
  const auto rest = cursor.Rest();
  description.instructions.assign(rest.begin(), rest.end());
  return description;
}

}  // namespace utlz::attach
