// Loaded into Python programs: calls NVTX as the library of XLA does, which brings its own copy.
#include "tests/programs/nvtx_client.h"

extern "C" {

void* nvtx_domain(const char* name) { return utlz::fake::NvtxCreateDomain(name); }
const void* nvtx_string(void* domain, const char* text) {
  return utlz::fake::NvtxRegisterString(static_cast<utlz::fake::NvtxDomain>(domain), text);
}
void nvtx_push(void* domain, const void* string) {
  utlz::fake::NvtxDomainPushRegistered(static_cast<utlz::fake::NvtxDomain>(domain), string,
                                       nullptr);
}
void nvtx_push_text(void* domain, const char* text) {
  utlz::fake::NvtxDomainPush(static_cast<utlz::fake::NvtxDomain>(domain), text);
}
void nvtx_pop(void* domain) {
  utlz::fake::NvtxDomainPop(static_cast<utlz::fake::NvtxDomain>(domain));
}
}
