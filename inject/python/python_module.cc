#include "inject/python/python_module.h"

#include <algorithm>
#include <cstring>

#include "inject/python/python_text.h"

namespace utlz::agent {
namespace {

constexpr uint64_t kObjectType = 8;
// Of a type.
constexpr uint64_t kTypeName = 24;
constexpr uint64_t kTypeFlags = 168;
constexpr uint64_t kTypeDictOffset = 288;
constexpr uint64_t kHasManagedDict = 1u << 4;
constexpr uint64_t kIsOfProgram = 1u << 9;
constexpr uint64_t kIsText = 1u << 28;
constexpr uint64_t kIsDict = 1u << 29;
// Before an object whose interpreter manages its dictionary.
constexpr uint64_t kManagedDict = 24;
// Of a dictionary, and of its keys.
constexpr uint64_t kDictKeys = 32;
constexpr uint64_t kDictValues = 40;
constexpr uint64_t kMostEntries = 1 << 16;
constexpr uint64_t kMostDictOffset = 1 << 16;

struct KeysHead {
  uint64_t references;
  uint8_t log2_size;
  uint8_t log2_index_bytes;
  uint8_t kind;
  uint8_t mutex;
  uint32_t version;
  int64_t usable;
  int64_t entries;
};
enum KeysKind : uint8_t { kAnyKeys = 0, kTextKeys = 1, kSplitKeys = 2 };

bool FlagsOf(MemoryPages* memory, uint64_t object, uint64_t* flags) {
  uint64_t type = 0;
  return memory->CopyValue(object + kObjectType, &type) &&
         memory->CopyValue(type + kTypeFlags, flags);
}

bool Has(MemoryPages* memory, uint64_t object, uint64_t flag) {
  uint64_t flags = 0;
  return FlagsOf(memory, object, &flags) && (flags & flag) != 0;
}

// Where an object's attributes are, or 0.
uint64_t DictOf(MemoryPages* memory, uint64_t object) {
  uint64_t type = 0, flags = 0, dict = 0;
  int64_t offset = 0;
  if (!memory->CopyValue(object + kObjectType, &type) ||
      !memory->CopyValue(type + kTypeFlags, &flags)) {
    return 0;
  }
  if ((flags & kHasManagedDict) != 0) {
    // With the lowest bit set it is no dictionary, but a table of values.
    if (!memory->CopyValue(object - kManagedDict, &dict) || dict % 8 != 0) return 0;
  } else if (!memory->CopyValue(type + kTypeDictOffset, &offset) || offset <= 0 ||
             offset > static_cast<int64_t>(kMostDictOffset) ||
             !memory->CopyValue(object + static_cast<uint64_t>(offset), &dict)) {
    return 0;
  }
  return dict != 0 && Has(memory, dict, kIsDict) ? dict : 0;
}

// Calls visit(key, value) for each entry until it returns false.
template <typename Visit>
void VisitDict(const PythonLayout& layout, MemoryPages* memory, uint64_t dict, Visit visit) {
  uint64_t keys = 0, values = 0;
  KeysHead head;
  if (!memory->CopyValue(dict + kDictKeys, &keys) ||
      !memory->CopyValue(dict + kDictValues, &values) || !memory->CopyValue(keys, &head) ||
      head.entries < 0 || head.kind > kSplitKeys || head.log2_index_bytes > 24) {
    return;
  }
  const uint64_t count = static_cast<uint64_t>(head.entries);
  if (count > kMostEntries) return;
  const uint64_t words = head.kind == kAnyKeys ? 3 : 2;  // an entry's: hash, key, value
  const uint64_t first = keys + sizeof(KeysHead) + (uint64_t{1} << head.log2_index_bytes);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t entry[3] = {};
    if (!memory->Copy(first + i * words * 8, entry + 3 - words, words * 8)) return;
    uint64_t value = entry[2];
    if (values != 0 && !memory->CopyValue(values + layout.dict_values + i * 8, &value)) return;
    if (entry[1] != 0 && value != 0 && !visit(entry[1], value)) return;
  }
}

bool TextOf(const PythonLayout& layout, MemoryPages* memory, uint64_t key, char* text,
            uint32_t capacity) {
  return Has(memory, key, kIsText) && CopyText(layout, memory, key, false, text, capacity);
}

// The dictionary that the module's attribute `_modules` is, or 0.
uint64_t ModulesOf(const PythonLayout& layout, MemoryPages* memory, uint64_t module) {
  const uint64_t attributes = DictOf(memory, module);
  uint64_t modules = 0;
  if (attributes == 0) return 0;
  VisitDict(layout, memory, attributes, [&](uint64_t key, uint64_t value) {
    char name[16];
    if (!TextOf(layout, memory, key, name, sizeof(name)) || std::strcmp(name, "_modules") != 0)
      return true;
    modules = value;
    return false;
  });
  return modules != 0 && Has(memory, modules, kIsDict) ? modules : 0;
}

}  // namespace

bool ReadClassName(MemoryPages* memory, uint64_t object, char* name, uint32_t capacity) {
  constexpr uint64_t kPageBytes = 4096;
  uint64_t type = 0, text = 0;
  name[0] = 0;
  if (!memory->CopyValue(object + kObjectType, &type) ||
      !memory->CopyValue(type + kTypeName, &text)) {
    return false;
  }
  uint32_t taken = 0;
  // Page by page: what follows the text may not be mapped.
  while (taken + 1 < capacity) {
    const uint64_t left = kPageBytes - (text + taken) % kPageBytes;
    const auto bytes = static_cast<uint32_t>(std::min<uint64_t>(left, capacity - 1 - taken));
    if (!memory->Copy(text + taken, name + taken, bytes)) break;
    taken += bytes;
    if (std::memchr(name, 0, taken) != nullptr) break;
  }
  name[taken] = 0;
  return name[0] != 0;
}

uint32_t ReadModuleChildren(const PythonLayout& layout, MemoryPages* memory, uint64_t module,
                            PythonModuleChild* children, uint32_t most) {
  const uint64_t modules = ModulesOf(layout, memory, module);
  if (modules == 0) return 0;
  uint32_t count = 0;
  VisitDict(layout, memory, modules, [&](uint64_t key, uint64_t value) {
    if (count == most) return false;
    PythonModuleChild& child = children[count];
    child.module = value;
    // A module may be None, whose class no program made.
    if (TextOf(layout, memory, key, child.name, sizeof(child.name)) &&
        Has(memory, value, kIsOfProgram))
      ++count;
    return true;
  });
  return count;
}

}  // namespace utlz::agent
