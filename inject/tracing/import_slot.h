// The places in a loaded module's memory through which it calls a function of another library.
#ifndef UTLZ_INJECT_TRACING_IMPORT_SLOT_H_
#define UTLZ_INJECT_TRACING_IMPORT_SLOT_H_

#include <cstdint>

namespace utlz::agent {

// The slot of the module that `code_address` lies in, or null where it does not import `name`.
void** FindImportSlot(uintptr_t code_address, const char* name);

// One code address in each loaded module that names a library beginning with `library` as needed.
// Returns how many there are, at most `most`.
uint32_t FindDependents(const char* library, uintptr_t* addresses, uint32_t most);

// How many modules were ever loaded: while it stays, so does what FindDependents finds.
uint64_t ModulesEverLoaded();

// Replaces every copy of a function's address in the static data of the module that `code_address`
// lies in, where a module keeps what it found by dlsym. Returns how many there were.
uint32_t ReplaceStoredPointers(uintptr_t code_address, void* function, void* replacement);

// Stores a function there. The page has its protection of before again afterwards; a slot whose
// page's protection cannot be found out is left alone.
bool SetImportSlot(void** slot, void* function);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_TRACING_IMPORT_SLOT_H_
