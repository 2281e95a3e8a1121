// A sampler's session of counters on one GPU of the fake CUPTI, stepped by a test's own clock.
#ifndef UTLZ_TESTS_UNIT_SAMPLER_COUNTER_SESSION_FIXTURE_H_
#define UTLZ_TESTS_UNIT_SAMPLER_COUNTER_SESSION_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collector/clocks.h"
#include "collector/sampler/counter_session.h"
#include "proto/sampler.pb.h"
#include "tests/support/nanoseconds.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/sampler/fake_cupti.h"

namespace utlz {

class CounterSessionTest : public testing::Test {
 protected:
  CounterSessionTest() {
    fake_.metrics = {
        {"dram__bytes_read.sum", 3200},
        {"dram__bytes_write.sum", 320},
        {"gpc__cycles_elapsed.max", 17'000},
        {"TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.sum", 1'000'000},
        {"TPC.TriageCompute.sm__cycles_active.sum", 2'000'000},
        {"lts__t_bytes.sum", 6400},
    };
    device_.uuid = std::string(16, 'u');
    device_.multiprocessors = 132;
    device_.compute_capability_major = 9;
    options_.lease_folder = folder_.path();
    options_.schedule.cpu_budget_ppm = 0;  // windows follow at once
  }
  void Begin() {
    now_ns_ = MonotonicNs();
    session_ = std::make_unique<CounterSession>(
        table_, device_, options_,
        [this](uint16_t type, const google::protobuf::MessageLite& message) {
          if (type == FRAME_SAMPLER_READY) {
            ready_.push_back(static_cast<const SamplerReady&>(message));
          } else if (type == FRAME_SAMPLES) {
            batches_.push_back(static_cast<const SampleBatch&>(message));
          } else if (type == FRAME_METRIC_SET) {
            sets_.push_back(static_cast<const MetricSet&>(message));
          } else if (type == FRAME_COUNTER_SETTING) {
            settings_.push_back(static_cast<const CounterSetting&>(message));
          }
        },
        now_ns_);
  }

  // Steps at the time that the session asks for.
  void StepWhenDue() {
    now_ns_ = std::max(now_ns_, session_->next_step_ns());
    session_->Step(now_ns_, true);
  }

  void Window() {
    while (!session_->sampling()) StepWhenDue();
    StepWhenDue();
  }

  FakeCupti fake_;
  CuptiTable table_ = fake_.table();
  CudaDevice device_;
  CounterSessionOptions options_;
  TemporaryFolder folder_;
  uint64_t now_ns_ = 0;
  std::vector<SampleBatch> batches_;
  std::vector<MetricSet> sets_;
  std::vector<CounterSetting> settings_;
  std::vector<SamplerReady> ready_;
  std::unique_ptr<CounterSession> session_;  // the first to go: what it has left it still sends
};

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_SAMPLER_COUNTER_SESSION_FIXTURE_H_
