// Opening the NVIDIA driver's libraries, and looking up what is in a library.
#ifndef UTLZ_COLLECTOR_SAMPLER_DRIVER_SHARED_LIBRARY_H_
#define UTLZ_COLLECTOR_SAMPLER_DRIVER_SHARED_LIBRARY_H_

#include <dlfcn.h>

namespace utlz {

// dlopen by the loader's own search, then in the folders where containers and distributions put the
// driver. Null where it is nowhere. The library stays loaded for the rest of the process.
void* OpenDriverLibrary(const char* name);

// Sets `function` to the symbol, or to null. False if the library lacks it.
template <typename Function>
bool ResolveSymbol(void* library, const char* name, Function* function) {
  void* symbol = dlsym(library, name);
  *function = reinterpret_cast<Function>(symbol);
  return symbol != nullptr;
}

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_DRIVER_SHARED_LIBRARY_H_
