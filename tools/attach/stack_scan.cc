#include "tools/attach/stack_scan.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "tools/attach/unwind/arch.h"
#include "tools/attach/unwind/call_chain.h"

namespace utlz::attach {
namespace {

constexpr uint64_t kMaxScannedBytes = 1u << 20;
constexpr size_t kCallBytes = 8;

// Distinct words of the stack that point into executable memory.
std::vector<uint64_t> CodePointers(const std::vector<uint8_t>& stack, const MemoryMap& map) {
  std::vector<AddressRange> code;
  for (const Mapping& mapping : map.mappings()) {
    if (mapping.executable) code.push_back(mapping.range);
  }
  std::vector<uint64_t> pointers;
  for (size_t offset = 0; offset + sizeof(uint64_t) <= stack.size(); offset += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, stack.data() + offset, sizeof(word));
    word = CodeAddress(word);
    const auto after = std::upper_bound(
        code.begin(), code.end(), word,
        [](uint64_t address, const AddressRange& range) { return address < range.start; });
    if (after != code.begin() && std::prev(after)->Contains(word)) pointers.push_back(word);
  }
  std::sort(pointers.begin(), pointers.end());
  pointers.erase(std::unique(pointers.begin(), pointers.end()), pointers.end());
  return pointers;
}

bool InAny(const std::vector<AddressRange>& ranges, uint64_t address) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [address](const AddressRange& range) { return range.Contains(address); });
}

bool IsReturnAddress(const MemoryReader& memory, uint64_t address) {
  std::array<uint8_t, kCallBytes> before = {};
  return memory.Read(address - kCallBytes, absl::MakeSpan(before)) && EndsInCall(before);
}

}  // namespace

StackVerdict ScanStack(const MemoryReader& memory, const MemoryMap& map, const CLibrary& library,
                       uint64_t stack_pointer) {
  const Mapping* mapping = map.Find(stack_pointer);
  if (mapping == nullptr || stack_pointer % sizeof(uint64_t) != 0) return StackVerdict::kUnreadable;
  std::vector<uint8_t> stack(std::min(mapping->range.end - stack_pointer, kMaxScannedBytes));
  stack.resize(memory.ReadSome(stack_pointer, absl::MakeSpan(stack)));
  if (stack.empty()) return StackVerdict::kUnreadable;

  StackVerdict verdict = StackVerdict::kClear;
  for (const uint64_t pointer : CodePointers(stack, map)) {
    std::array<uint8_t, kSignalReturnCodeBytes> code = {};
    if (memory.Read(pointer, absl::MakeSpan(code)) && IsSignalReturnCode(code)) {
      return StackVerdict::kSignalHandler;
    }
    if (verdict != StackVerdict::kClear) continue;
    if (InAny(library.allocator_code, pointer) && IsReturnAddress(memory, pointer)) {
      verdict = StackVerdict::kAllocator;
    } else if (InAny(library.loader_code, pointer) && IsReturnAddress(memory, pointer)) {
      verdict = StackVerdict::kLoader;
    }
  }
  return verdict;
}

StackVerdict JudgeStack(const MemoryReader& memory, const MemoryMap& map, const CLibrary& library,
                        const Registers& registers,
                        std::chrono::steady_clock::time_point give_up) {
  const CallChain chain = FollowCallChain(memory, map, registers, give_up);
  if (chain.has_signal_frame) return StackVerdict::kSignalHandler;
  for (const uint64_t address : chain.addresses) {
    if (InAny(library.loader_code, address)) return StackVerdict::kLoader;
    if (InAny(library.allocator_code, address)) return StackVerdict::kAllocator;
  }
  if (chain.is_complete) return StackVerdict::kClear;
  return ScanStack(memory, map, library, StackPointer(registers));
}

const char* Describe(StackVerdict verdict) {
  switch (verdict) {
    case StackVerdict::kClear: return "in a plain wait";
    case StackVerdict::kAllocator: return "in the memory allocator";
    case StackVerdict::kLoader: return "in the dynamic loader";
    case StackVerdict::kSignalHandler: return "in a signal handler";
    case StackVerdict::kUnreadable: return "on a stack that cannot be read";
  }
  return "";
}

}  // namespace utlz::attach
