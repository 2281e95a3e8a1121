#include "tools/attach/target/python_runtime.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"

namespace utlz::attach {
namespace {

// _Py_DebugOffsets of CPython 3.14, as far as it is used here: 64-bit words, all of them offsets or
// sizes in bytes but for the first three. The layout belongs to the minor version.
enum OffsetWord : size_t {
  kCookieWord = 0,
  kVersionWord = 1,
  kFreeThreaded = 2,
  kRuntimeSize = 3,
  kRuntimeFinalizing = 4,
  kInterpretersHead = 5,
  kInterpreterSize = 6,
  kInterpreterId = 7,
  kInterpreterNext = 8,
  kThreadsMain = 10,
  kThreadSize = 22,
  kThreadInterpreter = 25,
  kEvalBreaker = 89,
  kDebuggerSupport = 90,   // within the thread's state; holds the last three
  kDebuggingEnabled = 91,  // within the interpreter's state
  kPendingCall = 92,
  kScriptPath = 93,
  kScriptPathSize = 94,
  kOffsetWords = 95,
};
using OffsetWords = std::array<uint64_t, kOffsetWords>;

constexpr char kCookie[] = "xdebugpy";
constexpr size_t kCookieBytes = sizeof(kCookie) - 1;
// PY_VERSION_HEX without the number of the patch: 3.14, and a final release.
constexpr uint64_t kVersion = 0x030e00f0;
constexpr uint64_t kVersionMask = 0xffff00f0;

constexpr uint64_t kMaxStateBytes = 16u << 20;
// What interpreters have for writable data is a megabyte or two.
constexpr uint64_t kMaxSearchedBytes = 64u << 20;
constexpr size_t kChunkBytes = 64u << 10;
constexpr int kMaxInterpreters = 64;

absl::Status NoPython() { return absl::NotFoundError("there is no CPython 3.14 in the process"); }

absl::Status Implausible() {
  return absl::FailedPreconditionError("has a state that is not laid out as CPython's");
}

bool HoldsPython(const Mapping& mapping) {
  const std::string name = mapping.BaseName();
  return mapping.inode != 0 && mapping.readable && mapping.writable && mapping.is_private &&
         (absl::StartsWith(name, "python") || absl::StartsWith(name, "libpython"));
}

// Addresses of the cookie in a mapping, which begins a word.
void FindCookies(const MemoryReader& memory, const AddressRange& range,
                 std::vector<uint64_t>& found) {
  std::vector<uint8_t> chunk(kChunkBytes);
  for (uint64_t start = range.start; start < range.end; start += kChunkBytes) {
    const size_t wanted = std::min<uint64_t>(kChunkBytes, range.end - start);
    const size_t size = memory.ReadSome(start, absl::MakeSpan(chunk.data(), wanted));
    for (size_t at = 0; at + kCookieBytes <= size; at += sizeof(uint64_t)) {
      if (std::memcmp(chunk.data() + at, kCookie, kCookieBytes) == 0) found.push_back(start + at);
    }
    if (size < wanted) return;
  }
}

// The one runtime of the process; absent where there is none or more than one.
std::optional<uint64_t> FindRuntime(const MemoryReader& memory, const MemoryMap& map) {
  std::vector<uint64_t> found;
  uint64_t searched_bytes = 0;
  for (const Mapping& mapping : map.mappings()) {
    if (!HoldsPython(mapping)) continue;
    const uint64_t bytes = mapping.range.end - mapping.range.start;
    if (bytes > kMaxSearchedBytes - searched_bytes) break;
    searched_bytes += bytes;
    FindCookies(memory, mapping.range, found);
  }
  if (found.size() != 1) return std::nullopt;
  return found.front();
}

bool FieldFits(uint64_t offset, uint64_t bytes, uint64_t state_bytes) {
  return state_bytes <= kMaxStateBytes && offset <= state_bytes && state_bytes - offset >= bytes;
}

bool ArePlausible(const OffsetWords& words) {
  const uint64_t support = words[kDebuggerSupport];
  return words[kScriptPathSize] == kPythonScriptPathBytes &&
         FieldFits(words[kRuntimeFinalizing], 8, words[kRuntimeSize]) &&
         FieldFits(words[kInterpretersHead], 8, words[kRuntimeSize]) &&
         FieldFits(words[kInterpreterId], 8, words[kInterpreterSize]) &&
         FieldFits(words[kInterpreterNext], 8, words[kInterpreterSize]) &&
         FieldFits(words[kThreadsMain], 8, words[kInterpreterSize]) &&
         FieldFits(words[kDebuggingEnabled], 4, words[kInterpreterSize]) &&
         FieldFits(words[kThreadInterpreter], 8, words[kThreadSize]) &&
         FieldFits(words[kEvalBreaker], 8, words[kThreadSize]) &&
         FieldFits(support, 0, words[kThreadSize]) &&
         FieldFits(words[kPendingCall], 4, words[kThreadSize] - support) &&
         FieldFits(words[kScriptPath], kPythonScriptPathBytes, words[kThreadSize] - support);
}

bool IsOrdinaryMemory(const MemoryMap& map, uint64_t address, uint64_t bytes) {
  const Mapping* mapping = map.Find(address);
  return mapping != nullptr && mapping->readable && mapping->writable && mapping->is_private &&
         mapping->range.end - address >= bytes;
}

// The first interpreter, which owns the main thread, has the number 0 and stands last in the list.
std::optional<uint64_t> FindMainInterpreter(const MemoryReader& memory, const OffsetWords& words,
                                            uint64_t runtime) {
  auto interpreter = memory.ReadValue<uint64_t>(runtime + words[kInterpretersHead]);
  for (int i = 0; i < kMaxInterpreters && interpreter && *interpreter != 0; ++i) {
    const auto number = memory.ReadValue<int64_t>(*interpreter + words[kInterpreterId]);
    if (!number) return std::nullopt;
    if (*number == 0) return interpreter;
    interpreter = memory.ReadValue<uint64_t>(*interpreter + words[kInterpreterNext]);
  }
  return std::nullopt;
}

absl::StatusOr<PythonRequestPlace> PlaceOf(const MemoryReader& memory, const MemoryMap& map,
                                           const OffsetWords& words, uint64_t thread) {
  const uint64_t support = thread + words[kDebuggerSupport];
  const PythonRequestPlace place = {thread + words[kEvalBreaker], support + words[kPendingCall],
                                    support + words[kScriptPath]};
  if (place.eval_breaker % 8 != 0 || place.pending_call % 4 != 0 ||
      !IsOrdinaryMemory(map, place.eval_breaker, 8) ||
      !IsOrdinaryMemory(map, place.pending_call, 4) ||
      !IsOrdinaryMemory(map, place.script_path, kPythonScriptPathBytes)) {
    return Implausible();
  }
  const auto pending = memory.ReadValue<int32_t>(place.pending_call);
  if (!pending) return Implausible();
  if (*pending != 0) {
    return absl::FailedPreconditionError("has another tool's request waiting");
  }
  return place;
}

}  // namespace

absl::StatusOr<PythonRequestPlace> FindPythonRequestPlace(const MemoryReader& memory,
                                                          const MemoryMap& map) {
  const auto runtime = FindRuntime(memory, map);
  if (!runtime) return NoPython();
  const auto words = memory.ReadValue<OffsetWords>(*runtime);
  if (!words || ((*words)[kVersionWord] & ~uint64_t{0xffffffff}) != 0 ||
      ((*words)[kVersionWord] & kVersionMask) != kVersion) {
    return NoPython();
  }
  if ((*words)[kFreeThreaded] != 0) {
    return absl::FailedPreconditionError("is a build without a global lock");
  }
  if (!ArePlausible(*words)) return Implausible();
  const auto finalizing = memory.ReadValue<uint64_t>(*runtime + (*words)[kRuntimeFinalizing]);
  const auto interpreter = FindMainInterpreter(memory, *words, *runtime);
  if (!finalizing || *finalizing != 0 || !interpreter) return NoPython();
  const auto enabled = memory.ReadValue<int32_t>(*interpreter + (*words)[kDebuggingEnabled]);
  const auto thread = memory.ReadValue<uint64_t>(*interpreter + (*words)[kThreadsMain]);
  if (!enabled || !thread) return Implausible();
  if (*enabled != 1) return absl::FailedPreconditionError("has remote debugging disabled");
  if (*thread == 0) return NoPython();
  const auto owner = memory.ReadValue<uint64_t>(*thread + (*words)[kThreadInterpreter]);
  if (owner != interpreter) return Implausible();
  return PlaceOf(memory, map, *words, *thread);
}

}  // namespace utlz::attach
