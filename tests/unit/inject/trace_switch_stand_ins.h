// CUPTI and CUDA as far as TraceSwitch calls them, which note what it switched, and a TraceSwitch
// that sends its windows to a ring of its own.
#ifndef UTLZ_TESTS_UNIT_INJECT_TRACE_SWITCH_STAND_INS_H_
#define UTLZ_TESTS_UNIT_INJECT_TRACE_SWITCH_STAND_INS_H_

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "inject/tracing/trace_switch.h"
#include "proto/profile.pb.h"

namespace utlz::agent {

inline uint64_t cupti_now_ns = 0;
inline std::set<uint32_t> kinds_on;
inline std::set<uint32_t> driver_calls_on;
inline std::set<uint32_t> runtime_calls_on;
// Of device 0 and of device 1, where they have one.
inline std::vector<uint32_t> primary_contexts;
inline std::map<uint32_t, std::set<uint32_t>> context_kinds_on;
inline int process_wide_calls = 0;
// What CUPTI answers when one of these kinds is to be switched on, by context or for the process.
inline std::map<uint32_t, cupti::Result> refused_kinds;
// In the order in which they were switched, by context: below zero where off.
inline std::vector<int> order;

inline cupti::Result ResultOf(uint32_t kind) {
  const auto found = refused_kinds.find(kind);
  return found == refused_kinds.end() ? cupti::kSuccess : found->second;
}

inline void Switch(std::set<uint32_t>* on, uint32_t what, bool enable) {
  if (enable) {
    on->insert(what);
  } else {
    on->erase(what);
  }
}

inline uint32_t IdentifierOf(cupti::Context context) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(context));
}

inline CudaApi CudaStandIn() {
  CudaApi api{};
  api.device_get_count = [](int* count) {
    *count = 2;
    return cuda::kSuccess;
  };
  api.device_get = [](int* device, int ordinal) {
    *device = ordinal;
    return cuda::kSuccess;
  };
  api.primary_get_state = [](int device, unsigned* flags, int* active) {
    *flags = 0;
    *active = device < static_cast<int>(primary_contexts.size()) ? 1 : 0;
    return cuda::kSuccess;
  };
  api.primary_retain = [](cupti::Context* context, int device) {
    *context =
        reinterpret_cast<cupti::Context>(uintptr_t{primary_contexts[static_cast<size_t>(device)]});
    return cuda::kSuccess;
  };
  api.primary_release = [](int) { return cuda::kSuccess; };
  return api;
}

inline CuptiApi CuptiStandIn() {
  CuptiApi api{};
  api.get_timestamp = [](uint64_t* now_ns) {
    *now_ns = cupti_now_ns;
    return cupti::kSuccess;
  };
  api.activity_enable = [](uint32_t kind) {
    ++process_wide_calls;
    if (ResultOf(kind) == cupti::kSuccess) kinds_on.insert(kind);
    return ResultOf(kind);
  };
  api.activity_disable = [](uint32_t kind) {
    ++process_wide_calls;
    kinds_on.erase(kind);
    return cupti::kSuccess;
  };
  api.activity_enable_context = [](cupti::Context context, uint32_t kind) {
    if (ResultOf(kind) == cupti::kSuccess) context_kinds_on[IdentifierOf(context)].insert(kind);
    order.push_back(static_cast<int>(kind));
    return ResultOf(kind);
  };
  api.activity_disable_context = [](cupti::Context context, uint32_t kind) {
    context_kinds_on[IdentifierOf(context)].erase(kind);
    order.push_back(-static_cast<int>(kind));
    return cupti::kSuccess;
  };
  api.get_context_id = [](cupti::Context context, uint32_t* identifier) {
    *identifier = IdentifierOf(context);
    return cupti::kSuccess;
  };
  api.activity_enable_driver_api = [](uint32_t call, uint8_t enable) {
    Switch(&driver_calls_on, call, enable != 0);
    return cupti::kSuccess;
  };
  api.activity_enable_runtime_api = [](uint32_t call, uint8_t enable) {
    Switch(&runtime_calls_on, call, enable != 0);
    return cupti::kSuccess;
  };
  return api;
}

inline const std::set<uint32_t> kKernelsAndCopies = {
    cupti::kKindConcurrentKernel, cupti::kKindMemcpy, cupti::kKindMemcpy2, cupti::kKindMemset};

class TraceSwitchTest : public testing::Test {
 protected:
  TraceSwitchTest() : cupti_(CuptiStandIn()) {
    file_ = ring_.Create(kRingMinDataBytes);
    EXPECT_TRUE(recorder_.Create(&ring_, &cupti_, false));
    trace_.Create(&cupti_, &cuda_, &recorder_);
    kinds_on = driver_calls_on = runtime_calls_on = {};
    primary_contexts = {};
    context_kinds_on = {};
    process_wide_calls = 0;
    refused_kinds = {};
    order = {};
    cupti_now_ns = 1000;
  }
  ~TraceSwitchTest() override {
    munmap(ring_.header(), kRingHeaderBytes + kRingMinDataBytes);
    close(file_);
  }

  // The windows that were told since the last call.
  std::vector<TraceWindow> Windows() {
    std::vector<TraceWindow> windows;
    const auto* data = reinterpret_cast<const uint8_t*>(ring_.header()) + kRingHeaderBytes;
    while (position_ < ring_.header()->producer.write_position.load()) {
      FrameHeader frame;
      std::memcpy(&frame, data + position_, sizeof frame);
      TraceWindow window;
      EXPECT_EQ(frame.type, FRAME_TRACE_WINDOW);
      EXPECT_TRUE(window.ParseFromArray(data + position_ + sizeof frame,
                                        static_cast<int>(frame.payload_bytes)));
      windows.push_back(window);
      position_ += FrameBytes(frame.payload_bytes);
    }
    return windows;
  }

  // A record of a kernel in some context comes.
  void RecordIn(uint32_t context) {
    static uint32_t record_context;
    static bool handed_over;
    record_context = context;
    handed_over = false;
    cupti_.activity_get_next_record = [](uint8_t*, size_t, cupti::RecordHead** record) {
      static cupti::MemsetRecord memset;
      if (handed_over) return cupti::kErrorMaxLimitReached;
      handed_over = true;
      memset = {};
      memset.kind = cupti::kKindMemset;
      memset.context_id = record_context;
      *record = reinterpret_cast<cupti::RecordHead*>(&memset);
      return cupti::kSuccess;
    };
    uint8_t buffer[sizeof(cupti::MemsetRecord)] = {};
    recorder_.Lock();
    recorder_.Consume(buffer, sizeof buffer);
    recorder_.Unlock();
  }

  CudaApi cuda_ = CudaStandIn();
  CuptiApi cupti_;
  RingWriter ring_;
  Recorder recorder_;
  TraceSwitch trace_;
  int file_ = -1;
  uint64_t position_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_TESTS_UNIT_INJECT_TRACE_SWITCH_STAND_INS_H_
