// Demangling for hostile names. A mangled name of a hundred bytes can expand to gigabytes, because
// its parts may refer back to each other, and abi::__cxa_demangle writes all of it; this one stops.
#ifndef UTLZ_COLLECTOR_MODEL_BOUNDED_DEMANGLE_H_
#define UTLZ_COLLECTOR_MODEL_BOUNDED_DEMANGLE_H_

#include <cstddef>
#include <optional>
#include <string>

namespace utlz {

// The C++ name of `mangled_name`; nothing where it is not a mangled name, is one that the library
// refuses (it does so above 1,024 bytes), or its C++ name is longer than `maximum_bytes`.
std::optional<std::string> BoundedDemangle(const std::string& mangled_name, size_t maximum_bytes);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_MODEL_BOUNDED_DEMANGLE_H_
