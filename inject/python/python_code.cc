#include "inject/python/python_code.h"

#include <algorithm>

#include "inject/python/python_text.h"

namespace utlz::agent {
namespace {

constexpr uint64_t kObjectType = 8;
constexpr uint64_t kObjectLength = 16;  // of bytes; of a code object, in instructions
constexpr uint64_t kBytesData = 32;
constexpr uint64_t kInstructionBytes = 2;
constexpr uint64_t kMostLength = 1 << 30;

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

bool ReadPythonCode(const PythonLayout& layout, MemoryPages* memory, uint64_t code,
                    PythonCode* read) {
  uint64_t type = 0, instructions = 0, file = 0, name = 0, table = 0, table_bytes = 0;
  if (!memory->CopyValue(code + kObjectType, &type) || type != layout.code_type ||
      !memory->CopyValue(code + kObjectLength, &instructions) || instructions > kMostLength ||
      !memory->CopyValue(code + layout.code_first_line, &read->first_line) ||
      !memory->CopyValue(code + layout.code_file, &file) ||
      !memory->CopyValue(code + layout.code_name, &name) ||
      !memory->CopyValue(code + layout.code_line_table, &table)) {
    return false;
  }
  read->instruction_bytes = static_cast<uint32_t>(instructions * kInstructionBytes);
  if (!CopyText(layout, memory, file, true, read->file, sizeof(read->file)) ||
      !CopyText(layout, memory, name, false, read->name, sizeof(read->name)) ||
      !memory->CopyValue(table + kObjectLength, &table_bytes)) {
    return false;
  }
  read->line_table_bytes = 0;
  if (table_bytes > PythonCode::kMostLineTableBytes) return true;
  if (!memory->Copy(table + kBytesData, read->line_table, table_bytes)) return false;
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

}  // namespace utlz::agent
