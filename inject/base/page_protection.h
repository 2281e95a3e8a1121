// What a page of this process may be used for, as the kernel says. A module's headers alone do not
// say which pages the dynamic loader made read-only: the loader rounds to the machine's pages, and
// it may not have got there yet.
#ifndef UTLZ_INJECT_BASE_PAGE_PROTECTION_H_
#define UTLZ_INJECT_BASE_PAGE_PROTECTION_H_

#include <cstdint>

namespace utlz::agent {

// Sets `protection` to the PROT_ bits of the mapping that `address` lies in. False where there is
// none, or no /proc to read it in.
bool ReadProtection(uintptr_t address, int* protection);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_BASE_PAGE_PROTECTION_H_
