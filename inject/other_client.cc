#include "inject/other_client.h"


#include <atomic>

#include "inject/clock.h"
#include "inject/import_slot.h"

namespace utlz::inject {
namespace {

using Disable = cupti::Result (*)(uint32_t);
using Enable = cupti::Result (*)(uint32_t);

// Plain functions stand in the client's slots, so what they need cannot be passed to them.
std::atomic<Disable> real_disable{nullptr};
std::atomic<Enable> real_enable{nullptr};
std::atomic<uint64_t> disabled_at_ns{0};  // monotonic; 0 = kernel records are on

cupti::Result ObserveDisable(uint32_t kind) {
  const cupti::Result result = real_disable.load(std::memory_order_relaxed)(kind);
  if (kind == cupti::kKindConcurrentKernel) disabled_at_ns.store(MonotonicNs());
  return result;
}

cupti::Result ObserveEnable(uint32_t kind) {
  if (kind == cupti::kKindConcurrentKernel) disabled_at_ns.store(0);
  return real_enable.load(std::memory_order_relaxed)(kind);
}

template <typename Function>
void Redirect(uintptr_t module, const char* name, Function function) {
  if (void** slot = FindImportSlot(module, name)) {
    SetImportSlot(slot, reinterpret_cast<void*>(function));
  }
}

}  // namespace

void OtherClient::Watch(const CuptiApi& api, uintptr_t code_address) {
  real_disable.store(api.activity_disable);
  real_enable.store(api.activity_enable);
  disabled_at_ns.store(0);
  if (code_address == 0) return;
  Redirect(code_address, "cuptiActivityEnable", ObserveEnable);
  Redirect(code_address, "cuptiActivityDisable", ObserveDisable);
}

bool OtherClient::DoneFor(uint64_t now_monotonic_ns, uint64_t quiet_ns) const {
  const uint64_t at_ns = disabled_at_ns.load();
  return at_ns != 0 && now_monotonic_ns > at_ns + quiet_ns;
}

}  // namespace utlz::inject
