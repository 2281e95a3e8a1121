#include "collector/kernel_names/bounded_demangle.h"

#include <atomic>
#include <csetjmp>

#include "collector/kernel_names/demangling_work.h"
#include "collector/kernel_names/processor_alarm.h"

// libstdc++'s demangler, handing its result over piece by piece. The shared library hides it, so it
// is linked from the static one (CMakeLists.txt). Returns 0 on success.
extern "C" int __gcclibcxx_demangle_callback(const char* mangled_name,
                                             void (*callback)(const char*, size_t, void*),
                                             void* opaque);

namespace utlz {
namespace {

// A real name takes microseconds. The demangler has loops that never end for some that are none.
constexpr int64_t kMostProcessorTimeNs = 10'000'000;
// After so many names that took longer, none is demangled any more: a second in all.
constexpr int kMostAbandonedNames = 100;
std::atomic<int> abandoned_names{0};

struct Output {
  std::string text;
  size_t maximum_bytes;
  sigjmp_buf leave;
};

enum Leaving { kOutOfTime = 1, kTooLong = 2 };

// Leaving by a jump is sound: the demangler is C and keeps all its state on the stack, and the text
// has its memory beforehand.
void Append(const char* piece, size_t bytes, void* opaque) {
  auto* output = static_cast<Output*>(opaque);
  if (bytes > output->maximum_bytes - output->text.size()) siglongjmp(output->leave, kTooLong);
  output->text.append(piece, bytes);
}

bool Demangle(const std::string& mangled_name, Output* output) {
  ProcessorAlarm* const alarm = ProcessorAlarm::OfThisThread();
  if (const int leaving = sigsetjmp(output->leave, 0); leaving != 0) {
    if (alarm != nullptr) alarm->Disarm();
    if (leaving == kOutOfTime) abandoned_names.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (alarm != nullptr) alarm->Arm(&output->leave, kMostProcessorTimeNs);
  const int status = __gcclibcxx_demangle_callback(mangled_name.c_str(), &Append, output);
  if (alarm != nullptr) alarm->Disarm();
  return status == 0;
}

}  // namespace

std::optional<std::string> BoundedDemangle(const std::string& mangled_name, size_t maximum_bytes) {
  if (!DemanglingIsBounded(mangled_name) ||
      abandoned_names.load(std::memory_order_relaxed) >= kMostAbandonedNames) {
    return std::nullopt;
  }
  Output output;
  output.maximum_bytes = maximum_bytes;
  output.text.reserve(maximum_bytes);
  if (!Demangle(mangled_name, &output)) return std::nullopt;
  return std::string(output.text);
}

}  // namespace utlz
