#include "inject/python/python_layout.h"

#include <dlfcn.h>

#include <cstring>

namespace utlz::agent {
namespace {

// PY_VERSION_HEX: major, minor and patch number, and in the last byte 0xf0 in final releases.
constexpr uint64_t kMinorShift = 16;
constexpr uint64_t kReleaseMask = 0xf0;
constexpr uint64_t kVersion311 = 0x030b;
constexpr uint64_t kVersion312 = 0x030c;
constexpr uint64_t kVersion313 = 0x030d;
constexpr uint64_t kVersion314 = 0x030e;

// _Py_DebugOffsets: 64-bit words. The first six are the same in 3.13 and 3.14; later ones are
// counted from where their structure's words begin.
constexpr char kCookie[] = "xdebugpy";
enum OffsetWord : uint32_t {
  kVersionWord = 1,
  kFreeThreadedWord = 2,
  kRuntimeSize = 3,
  kRuntimeEnding = 4,
  kInterpretersHead = 5,
  // Of a thread's state.
  kThreadInterpreter = 3,
  kThreadFrame = 4,
  // Of a frame.
  kFramePrevious = 1,
  kFrameExecutable = 2,
  kFrameInstruction = 3,
  kFrameLocals = 4,
  kFrameOwner = 5,
  // Of a code object.
  kCodeFile = 1,
  kCodeQualifiedName = 3,
  kCodeLineTable = 4,
  kCodeFirstLine = 5,
  kCodeInstructions = 9,
};
struct OffsetGroups {
  uint32_t thread, frame, code;  // the word with the structure's size
};
constexpr OffsetGroups kGroups313 = {19, 28, 34};
constexpr OffsetGroups kGroups314 = {22, 31, 39};

constexpr uint64_t kMostStateBytes = 16u << 20;
constexpr uint64_t kMostObjectBytes = 4096;

void Fill311(PythonLayout* layout) {
  layout->runtime_ending = 24;
  layout->runtime_interpreters = 40;
  layout->thread_interpreter = 16;
  layout->thread_frame = 56;
  layout->has_cframe = true;
  layout->cframe_frame = 8;
  layout->frame_code = 32;
  layout->frame_instruction = 56;
  layout->frame_previous = 48;
  layout->frame_owner = 69;
  layout->frame_locals = 72;
  layout->code_file = 112;
  layout->code_name = 128;
  layout->code_first_line = 72;
  layout->code_line_table = 136;
  layout->code_instructions = 184;
  layout->text_ascii = 48;
  layout->text_compact = 72;
}

void Fill312(PythonLayout* layout) {
  layout->runtime_ending = 24;
  layout->runtime_interpreters = 40;
  layout->thread_interpreter = 16;
  layout->thread_frame = 56;
  layout->has_cframe = true;
  layout->cframe_frame = 0;
  layout->frame_code = 0;
  layout->frame_instruction = 56;
  layout->frame_previous = 8;
  layout->frame_owner = 70;
  layout->frame_locals = 72;
  layout->code_file = 112;
  layout->code_name = 128;
  layout->code_first_line = 68;
  layout->code_line_table = 136;
  layout->code_instructions = 192;
  layout->text_ascii = 40;
  layout->text_compact = 56;
}

// Whether `bytes` at the offset lie within a structure of `size`, aligned as what they are.
bool Fits(uint64_t offset, uint64_t bytes, uint64_t size) {
  return offset % bytes == 0 && offset <= size && size - offset >= bytes;
}

bool ArePlausible(const uint64_t* words, const OffsetGroups& groups) {
  const uint64_t* thread = words + groups.thread;
  const uint64_t* frame = words + groups.frame;
  const uint64_t* code = words + groups.code;
  // After the newest interpreter stands the first one.
  return words[kRuntimeSize] <= kMostStateBytes && thread[0] <= kMostStateBytes &&
         frame[0] <= kMostObjectBytes && code[0] <= kMostObjectBytes &&
         Fits(words[kRuntimeEnding], 8, words[kRuntimeSize]) &&
         Fits(words[kInterpretersHead], 8, words[kRuntimeSize]) &&
         Fits(words[kInterpretersHead] + 8, 8, words[kRuntimeSize]) &&
         Fits(thread[kThreadInterpreter], 8, thread[0]) &&
         Fits(thread[kThreadFrame], 8, thread[0]) && Fits(frame[kFramePrevious], 8, frame[0]) &&
         Fits(frame[kFrameExecutable], 8, frame[0]) &&
         Fits(frame[kFrameInstruction], 8, frame[0]) && Fits(frame[kFrameOwner], 1, frame[0]) &&
         Fits(frame[kFrameLocals], 8, frame[0]) && Fits(code[kCodeFile], 8, code[0]) &&
         Fits(code[kCodeQualifiedName], 8, code[0]) && Fits(code[kCodeLineTable], 8, code[0]) &&
         Fits(code[kCodeFirstLine], 4, code[0]) && code[kCodeInstructions] % 8 == 0 &&
         code[kCodeInstructions] <= code[0];
}

void FillFromOffsets(const uint64_t* words, const OffsetGroups& groups, PythonLayout* layout) {
  const auto of = [words](uint32_t group, OffsetWord word) {
    return static_cast<uint32_t>(words[group + word]);
  };
  layout->runtime_ending = of(0, kRuntimeEnding);
  layout->runtime_interpreters = of(0, kInterpretersHead);
  layout->thread_interpreter = of(groups.thread, kThreadInterpreter);
  layout->thread_frame = of(groups.thread, kThreadFrame);
  layout->frame_previous = of(groups.frame, kFramePrevious);
  layout->frame_code = of(groups.frame, kFrameExecutable);
  layout->frame_instruction = of(groups.frame, kFrameInstruction);
  layout->frame_locals = of(groups.frame, kFrameLocals);
  layout->frame_owner = of(groups.frame, kFrameOwner);
  layout->code_file = of(groups.code, kCodeFile);
  layout->code_name = of(groups.code, kCodeQualifiedName);
  layout->code_line_table = of(groups.code, kCodeLineTable);
  layout->code_first_line = of(groups.code, kCodeFirstLine);
  layout->code_instructions = of(groups.code, kCodeInstructions);
  layout->text_ascii = 40;
  layout->text_compact = 56;
  layout->dict_values = 8;
}

NoStack ReadOffsets(const uint64_t* words, uint64_t version, PythonLayout* layout) {
  if (std::memcmp(words, kCookie, sizeof(uint64_t)) != 0 || words[kVersionWord] != version) {
    return NoStack::kOtherLayout;
  }
  if (words[kFreeThreadedWord] != 0) return NoStack::kFreeThreaded;
  layout->has_tags = version >> kMinorShift == kVersion314;
  const OffsetGroups& groups = layout->has_tags ? kGroups314 : kGroups313;
  if (!ArePlausible(words, groups)) return NoStack::kOtherLayout;
  FillFromOffsets(words, groups, layout);
  return NoStack::kNone;
}

NoStack ReadLayout(uint64_t version, PythonLayout* layout) {
  if ((version & kReleaseMask) != kReleaseMask) return NoStack::kOtherVersion;
  switch (version >> kMinorShift) {
    case kVersion311:
      Fill311(layout);
      return NoStack::kNone;
    case kVersion312:
      Fill312(layout);
      return NoStack::kNone;
    case kVersion313:
    case kVersion314:
      return ReadOffsets(reinterpret_cast<const uint64_t*>(layout->runtime), version, layout);
    default:
      return NoStack::kOtherVersion;
  }
}

uint64_t AddressOf(SymbolLookup lookup, const char* name) {
  return reinterpret_cast<uint64_t>(lookup(name));
}

void* LookUp(const char* name) { return dlsym(RTLD_DEFAULT, name); }

}  // namespace

NoStack FindPython(SymbolLookup lookup, PythonLayout* layout) {
  PythonLayout found;
  found.runtime = AddressOf(lookup, "_PyRuntime");
  void* const this_thread = lookup("PyGILState_GetThisThreadState");
  if (found.runtime == 0 || this_thread == nullptr) return NoStack::kNoPython;
  found.this_thread = reinterpret_cast<void* (*)()>(this_thread);
  found.cell_type = AddressOf(lookup, "PyCell_Type");
  found.code_type = AddressOf(lookup, "PyCode_Type");
  const auto* version = static_cast<const unsigned long*>(lookup("Py_Version"));
  if (version == nullptr) return NoStack::kOtherVersion;  // it came with 3.11
  const NoStack why = ReadLayout(*version, &found);
  if (why != NoStack::kNone) return why;
  if (found.cell_type == 0 || found.code_type == 0) return NoStack::kOtherLayout;
  // Exported by builds that count all references, and by builds with an optimizer.
  if (lookup("_Py_NegativeRefcount") != nullptr) return NoStack::kDebugBuild;
  if (lookup("_PyOptimizer_Optimize") != nullptr || lookup("_Py_GetExecutor") != nullptr) {
    return NoStack::kJitBuild;
  }
  *layout = found;
  return NoStack::kNone;
}

NoStack FindPython(PythonLayout* layout) { return FindPython(LookUp, layout); }

}  // namespace utlz::agent
