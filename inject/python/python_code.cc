#include "inject/python/python_code.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>

namespace utlz::inject {
namespace {

constexpr uint64_t kObjectType = 8;
constexpr uint64_t kObjectLength = 16;  // of a text, of bytes; of a code object, in instructions
constexpr uint64_t kTextState = 32;
constexpr uint64_t kBytesData = 32;
constexpr uint64_t kInstructionBytes = 2;
constexpr uint64_t kMostLength = 1 << 30;

bool Copy(uint64_t address, void* to, uint64_t bytes) {
  if (bytes == 0) return true;
  const iovec local = {to, bytes};
  const iovec remote = {reinterpret_cast<void*>(address), bytes};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

template <typename T>
bool CopyValue(uint64_t address, T* value) {
  return Copy(address, value, sizeof(T));
}

uint32_t EncodeUtf8(uint32_t character, char out[4]) {
  const auto part = [character](uint32_t shift) {
    return static_cast<char>(0x80 | (character >> shift & 0x3f));
  };
  if (character < 0x80) {
    out[0] = static_cast<char>(character);
    return 1;
  }
  if (character < 0x800) {
    out[0] = static_cast<char>(0xc0 | character >> 6);
    out[1] = part(0);
    return 2;
  }
  // Half of a pair, as Python has it in names of files that are not UTF-8, or no character at all.
  if ((character >= 0xd800 && character < 0xe000) || character > 0x10ffff) character = 0xfffd;
  if (character < 0x10000) {
    out[0] = static_cast<char>(0xe0 | character >> 12);
    out[1] = static_cast<char>(0x80 | (character >> 6 & 0x3f));
    out[2] = static_cast<char>(0x80 | (character & 0x3f));
    return 3;
  }
  out[0] = static_cast<char>(0xf0 | character >> 18);
  out[1] = part(12);
  out[2] = part(6);
  out[3] = part(0);
  return 4;
}

struct TextPlace {
  uint64_t characters = 0;
  uint64_t length = 0;
  uint32_t character_bytes = 1;
  uint32_t utf8_bytes = 4;  // of one character, at most
};

// A str whose characters follow its head, as those of names in code objects do.
bool FindText(const PythonLayout& layout, uint64_t text, TextPlace* place) {
  uint32_t state = 0;
  if (!CopyValue(text + kObjectLength, &place->length) || place->length > kMostLength ||
      !CopyValue(text + kTextState, &state)) {
    return false;
  }
  const bool is_compact = (state >> 5 & 1) != 0;
  const bool is_ascii = (state >> 6 & 1) != 0;
  place->character_bytes = state >> 2 & 7;
  place->characters = text + (is_ascii ? layout.text_ascii : layout.text_compact);
  place->utf8_bytes = is_ascii ? 1 : std::min(place->character_bytes + 1, 4u);
  return is_compact && (place->character_bytes == 1 || place->character_bytes == 2 ||
                        place->character_bytes == 4);
}

bool CopyText(const PythonLayout& layout, uint64_t text, bool keep_end, char* out,
              uint32_t capacity) {
  TextPlace place;
  out[0] = 0;
  if (!FindText(layout, text, &place)) return false;
  const uint64_t taken = std::min<uint64_t>(place.length, (capacity - 1) / place.utf8_bytes);
  const uint64_t first = keep_end ? place.length - taken : 0;
  uint32_t used = 0;
  for (uint64_t i = first; i < first + taken;) {
    uint8_t chunk[256];
    const uint64_t count = std::min<uint64_t>(first + taken - i, sizeof(chunk) / 4);
    const uint64_t bytes = count * place.character_bytes;
    if (!Copy(place.characters + i * place.character_bytes, chunk, bytes)) return false;
    for (uint64_t at = 0; at < count; ++at) {
      uint32_t character = 0;
      for (uint32_t byte = 0; byte < place.character_bytes; ++byte) {
        character |= uint32_t{chunk[at * place.character_bytes + byte]} << 8 * byte;
      }
      used += EncodeUtf8(character, out + used);
    }
    i += count;
  }
  out[used] = 0;
  return true;
}

// Of a location table: bytes whose highest bit is set begin an entry.
class LineTableReader {
 public:
  LineTableReader(const uint8_t* table, uint32_t bytes) : table_(table), bytes_(bytes) {}

  bool Done() const { return at_ >= bytes_; }
  uint32_t Byte() { return at_ < bytes_ ? table_[at_++] : 0; }
  // Six bits a byte, the lowest first; a seventh says that more follow.
  uint32_t Number() {
    uint32_t number = 0;
    for (uint32_t shift = 0; shift < 32; shift += 6) {
      const uint32_t byte = Byte();
      number |= (byte & 63) << shift;
      if ((byte & 64) == 0) break;
    }
    return number;
  }
  int32_t SignedNumber() {
    const uint32_t number = Number();
    const auto half = static_cast<int32_t>(number >> 1);
    return (number & 1) != 0 ? -half : half;
  }
  void SkipToEntry() {
    while (at_ < bytes_ && (table_[at_] & 0x80) == 0) ++at_;
  }

 private:
  const uint8_t* table_;
  uint32_t bytes_;
  uint32_t at_ = 0;
};

}  // namespace

bool ReadPythonCode(const PythonLayout& layout, uint64_t code, PythonCode* read) {
  uint64_t type = 0, instructions = 0, file = 0, name = 0, table = 0, table_bytes = 0;
  if (!CopyValue(code + kObjectType, &type) || type != layout.code_type ||
      !CopyValue(code + kObjectLength, &instructions) || instructions > kMostLength ||
      !CopyValue(code + layout.code_first_line, &read->first_line) ||
      !CopyValue(code + layout.code_file, &file) || !CopyValue(code + layout.code_name, &name) ||
      !CopyValue(code + layout.code_line_table, &table)) {
    return false;
  }
  read->instruction_bytes = static_cast<uint32_t>(instructions * kInstructionBytes);
  if (!CopyText(layout, file, true, read->file, sizeof(read->file)) ||
      !CopyText(layout, name, false, read->name, sizeof(read->name)) ||
      !CopyValue(table + kObjectLength, &table_bytes)) {
    return false;
  }
  read->line_table_bytes = 0;
  if (table_bytes > PythonCode::kMostLineTableBytes) return true;
  if (!Copy(table + kBytesData, read->line_table, table_bytes)) return false;
  read->line_table_bytes = static_cast<uint32_t>(table_bytes);
  return true;
}

int32_t LineOfInstruction(const PythonCode& code, uint64_t offset_bytes) {
  // How an entry is encoded, and so what it says of lines.
  constexpr uint32_t kNoLine = 15, kLongForm = 14, kNoColumns = 13, kOneLineForm = 10;
  LineTableReader reader(code.line_table,
                         std::min(code.line_table_bytes, PythonCode::kMostLineTableBytes));
  int64_t line = code.first_line;
  uint64_t end = 0;
  while (!reader.Done()) {
    const uint32_t head = reader.Byte();
    const uint32_t form = head >> 3 & 15;
    end += ((head & 7) + 1) * kInstructionBytes;
    if (form == kLongForm || form == kNoColumns) {
      line += reader.SignedNumber();
    } else if (form >= kOneLineForm && form < kNoColumns) {
      line += form - kOneLineForm;
    }
    if (offset_bytes < end) {
      return form == kNoLine || line <= 0 || line > INT32_MAX ? 0 : static_cast<int32_t>(line);
    }
    reader.SkipToEntry();
  }
  return 0;
}

}  // namespace utlz::inject
