// The functions of CUPTI that the agent calls, found in whichever libcupti the process has, or will
// have: the copy that is loaded already, then the wheel beside the target's Python, then the
// toolkit's, then one that we ship. A second copy comes only where the user named it: that one is
// first, and other clients of the process's own (torch.profiler) see no kernels from then on.
#ifndef UTLZ_INJECT_DRIVER_CUPTI_API_H_
#define UTLZ_INJECT_DRIVER_CUPTI_API_H_

#include "inject/driver/cupti_abi.h"
#include "inject/driver/cupti_search.h"
#include "proto/ring_abi.h"

namespace utlz::agent {

// What became of the file that the user named.
struct NamedCuptiFate {
  NamedCupti fate;
  char path[kMaxCuptiPathBytes];
  char error[256];  // the dynamic loader's
};

struct CuptiApi {
  cupti::Result (*get_version)(uint32_t*);
  cupti::Result (*get_timestamp)(uint64_t*);
  cupti::Result (*subscribe)(cupti::Subscriber*, cupti::Callback, void*);
  // Absent before CUPTI 12.8 or so.
  cupti::Result (*subscribe_v2)(cupti::Subscriber*, cupti::Callback, void*, void*);
  cupti::Result (*unsubscribe)(cupti::Subscriber);
  cupti::Result (*enable_callback)(uint32_t, cupti::Subscriber, uint32_t, uint32_t);
  cupti::Result (*enable_domain)(uint32_t, cupti::Subscriber, uint32_t);
  cupti::Result (*activity_register_callbacks)(cupti::BufferRequested, cupti::BufferCompleted);
  cupti::Result (*activity_enable)(uint32_t);
  cupti::Result (*activity_disable)(uint32_t);
  cupti::Result (*activity_flush_all)(uint32_t);
  cupti::Result (*activity_get_next_record)(uint8_t*, size_t, cupti::RecordHead**);
  cupti::Result (*activity_get_dropped)(cupti::Context, uint32_t, size_t*);
  cupti::Result (*activity_set_attribute)(uint32_t, size_t*, void*);
  // The same for one context; null where this libcupti has none.
  cupti::Result (*activity_enable_context)(cupti::Context, uint32_t);
  cupti::Result (*activity_disable_context)(cupti::Context, uint32_t);
  cupti::Result (*get_context_id)(cupti::Context, uint32_t*);
  // The number of a graph's node, as records have it; null where this libcupti has none.
  cupti::Result (*get_graph_node_id)(void* node, uint64_t*);
  // Never called for ourselves: a client's own call is passed on. Null where there is none.
  cupti::Result (*finalize)();
  // Records of chosen functions; null where this libcupti has none.
  cupti::Result (*activity_enable_driver_api)(uint32_t callback_id, uint8_t enable);
  cupti::Result (*activity_enable_runtime_api)(uint32_t callback_id, uint8_t enable);
  // Counters by user range; null where this libcupti has none.
  cupti::Result (*profiler_initialize)(void*);
  cupti::Result (*device_get_chip_name)(void*);
  cupti::Result (*host_initialize)(void*);
  cupti::Result (*host_deinitialize)(void*);
  cupti::Result (*host_config_add_metrics)(void*);
  cupti::Result (*host_get_config_image_size)(void*);
  cupti::Result (*host_get_config_image)(void*);
  cupti::Result (*host_get_num_of_passes)(void*);
  cupti::Result (*host_evaluate)(void*);
  cupti::Result (*range_enable)(void*);
  cupti::Result (*range_disable)(void*);
  cupti::Result (*range_start)(void*);
  cupti::Result (*range_stop)(void*);
  cupti::Result (*range_push)(void*);
  cupti::Result (*range_pop)(void*);
  cupti::Result (*range_decode)(void*);
  cupti::Result (*range_set_config)(void*);
  cupti::Result (*range_counter_data_size)(void*);
  cupti::Result (*range_counter_data_initialize)(void*);
  cupti::Result (*range_counter_data_info)(void*);
  // NVTX's way in: int cuptiNvtxInitialize2(void*)
  int (*nvtx_initialize2)(void*);

  uint32_t version;
  bool has_ranges;
  void* library;
  char path[kMaxCuptiPathBytes];
  uint64_t device;  // of that file
  uint64_t inode;
  bool by_name;  // it is the one that the user named, now or at an earlier attachment
  NamedCuptiFate named;
  char other_path[kMaxCuptiPathBytes];  // of the copy that it was loaded beside
};

// Descriptors of libcuptis that a tool brought, or -1.
struct BroughtCupti {
  int named = -1;        // by the user: to load before any other
  int last_resort = -1;  // to load where there is none
};

enum class CuptiLoad { kLoaded, kNotFound, kIncomplete, kTooOld };

// Fills `api`. Uses the dynamic loader: call it from InitializeInjection or the agent's own thread,
// never from a callback.
// If the file that the user named cannot be used, `api->named` says why, and the others are tried
// in their order.
CuptiLoad LoadCupti(CuptiApi* api, const BroughtCupti& brought = {});

// An attachment to an agent that has loaded a CUPTI, which it keeps: says what that means for a
// named one.
void KeepCupti(CuptiApi* api, const BroughtCupti& brought);

// True once: when the process has loaded a copy of its own beside the named one, which is in use.
// It may do so at any time. Uses the dynamic loader too.
bool LookForOtherCupti(CuptiApi* api);
inline bool HasOtherCupti(const CuptiApi& api) { return api.other_path[0] != 0; }

// Loads libnvperf_host.so by full path from beside libcupti: a wheel's copy does not find it by
// itself. libnvperf_target.so, another 34 MB, is not needed for user ranges.
void LoadNvperf(const CuptiApi& api);

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_DRIVER_CUPTI_API_H_
