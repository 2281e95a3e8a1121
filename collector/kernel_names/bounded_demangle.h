// Demangling for hostile names. A mangled name of a hundred bytes can expand to gigabytes, because
// its parts may refer back to each other, and abi::__cxa_demangle writes all of it; this one stops.
// Names whose parts it would walk for ever without writing anything are refused beforehand, and any
// that takes 10 ms of the processor is given up. After 100 such names none is demangled any more.
#ifndef UTLZ_COLLECTOR_KERNEL_NAMES_BOUNDED_DEMANGLE_H_
#define UTLZ_COLLECTOR_KERNEL_NAMES_BOUNDED_DEMANGLE_H_

#include <cstddef>
#include <optional>
#include <string>

namespace utlz {

// The C++ name of `mangled_name`; nothing where it is not a mangled name, is one that the library
// refuses (it does so above 1,024 bytes), might take too long (demangling_work.h), or its C++ name
// is longer than `maximum_bytes`.
std::optional<std::string> BoundedDemangle(const std::string& mangled_name, size_t maximum_bytes);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_NAMES_BOUNDED_DEMANGLE_H_
