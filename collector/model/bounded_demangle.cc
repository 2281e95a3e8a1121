#include "collector/model/bounded_demangle.h"

#include <csetjmp>

// libstdc++'s demangler, handing its result over piece by piece. The shared library hides it, so it
// is linked from the static one (CMakeLists.txt). Returns 0 on success.
extern "C" int __gcclibcxx_demangle_callback(const char* mangled_name,
                                             void (*callback)(const char*, size_t, void*),
                                             void* opaque);

namespace utlz {
namespace {

struct Output {
  std::string text;
  size_t maximum_bytes;
  std::jmp_buf too_long;
};

// Leaving by longjmp is sound: the demangler is C and keeps all its state on the stack.
void Append(const char* piece, size_t bytes, void* opaque) {
  auto* output = static_cast<Output*>(opaque);
  if (bytes > output->maximum_bytes - output->text.size()) std::longjmp(output->too_long, 1);
  output->text.append(piece, bytes);
}

}  // namespace

std::optional<std::string> BoundedDemangle(const std::string& mangled_name, size_t maximum_bytes) {
  Output output;
  output.maximum_bytes = maximum_bytes;
  if (setjmp(output.too_long) != 0) return std::nullopt;
  if (__gcclibcxx_demangle_callback(mangled_name.c_str(), &Append, &output) != 0) {
    return std::nullopt;
  }
  return std::move(output.text);
}

}  // namespace utlz
