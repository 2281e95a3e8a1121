// The place in a loaded module's memory through which it calls a function of another library.
#ifndef UTLZ_INJECT_IMPORT_SLOT_H_
#define UTLZ_INJECT_IMPORT_SLOT_H_

#include <cstdint>

namespace utlz::inject {

// The slot of the module that `code_address` lies in, or null where it does not import `name`.
void** FindImportSlot(uintptr_t code_address, const char* name);

// Stores a function there; pages that the loader made read-only are so again afterwards.
bool SetImportSlot(void** slot, void* function);

}  // namespace utlz::inject

#endif  // UTLZ_INJECT_IMPORT_SLOT_H_
