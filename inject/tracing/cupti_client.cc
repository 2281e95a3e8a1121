#include "inject/tracing/cupti_client.h"

#include "inject/base/clock.h"
#include "inject/driver/one_agent.h"
#include "inject/tracing/subscription.h"

namespace utlz::agent {
namespace {

AgentReason ReasonOf(CuptiLoad load) {
  return load == CuptiLoad::kNotFound ? AgentReason::kNoCupti
         : load == CuptiLoad::kTooOld ? AgentReason::kCuptiTooOld
                                      : AgentReason::kCuptiError;
}

}  // namespace

CuptiClient::Failure CuptiClient::Start(const BroughtCupti& brought, bool has_run,
                                        uint32_t device_pool_mib) {
  device_pool_mib_ = device_pool_mib;
  const CuptiLoad load = Load(brought);
  reports_.SendIdentity();
  if (load != CuptiLoad::kLoaded) return {ReasonOf(load), cupti_.version};
  // Another client that took the buffers over since the last attachment may be using them.
  if (started_) {
    FollowTearDown();
    return {};
  }
  LimitDeviceMemory();
  if (const Failure failure = Register(has_run); failure.reason != AgentReason::kNone) {
    return failure;
  }
  OtherClient::OnSubscription(EndSubscription);
  OtherClient::OnRegistration(TakeBuffersBack);
  // What is loaded by now is watched before it can take over.
  WatchOthers();
  started_ = true;
  return {};
}

CuptiLoad CuptiClient::Load(const BroughtCupti& brought) {
  if (cuda_.device_get_count == nullptr) LoadCuda(&cuda_);
  if (!started_) return LoadCupti(&cupti_, brought);
  KeepCupti(&cupti_, brought);
  return CuptiLoad::kLoaded;
}

CuptiClient::Failure CuptiClient::Register(bool has_run) {
  intake_.GiveBuffers(true);
  const cupti::Result result =
      has_run ? registration_.RegisterUnlessHeld(cupti_, BufferRequestedCallback,
                                                 BufferCompletedCallback)
              : registration_.Register(cupti_, BufferRequestedCallback, BufferCompletedCallback);
  if (result != cupti::kSuccess) {
    return {AgentReason::kCuptiError, static_cast<uint32_t>(result)};
  }
  // Before any client has registered buffers, no kind of record can have been on. In a program that
  // has run for a while, another client's may have been (subscription.h).
  may_subscribe_ = !has_run || (registration_.Observable() && registration_.Ours());
  // If CUPTI refuses because another client of this copy is subscribed, it is prepared already.
  if (may_subscribe_ && !PrepareSubscriptions(cupti_)) may_subscribe_ = !HasOtherCupti(cupti_);
  return {};
}

// Once the process has another copy of CUPTI, clients call that one, and we must not intercept
// them.
void CuptiClient::WatchOthers() {
  if (LookForOtherCupti(&cupti_)) reports_.SendIdentity();
  if (!HasOtherCupti(cupti_)) other_client_.WatchImporters(cupti_, turns_.mutex());
}

void CuptiClient::Forget() {
  intake_.GiveBuffers(false);
  started_ = false;
  registration_ = {};
  const NamedCuptiFate named = cupti_.named;
  cupti_ = {};
  cupti_.named = named;
}

// What was set in CUPTI is forgotten once another client tore it down.
void CuptiClient::FollowTearDown() {
  if (!other_client_.TakeTornDown()) return;
  LimitDeviceMemory();
  may_subscribe_ = registration_.Observable() && registration_.Holder() == 0;
  if (may_subscribe_) PrepareSubscriptions(cupti_);
}

// CUPTI's default lets a context take 250 device buffers of 3.2 MB.
void CuptiClient::LimitDeviceMemory() {
  if (device_pool_mib_ == 0) return;
  constexpr size_t kDeviceBufferBytes = 3200000;
  size_t limit = (size_t{device_pool_mib_} << 20) / kDeviceBufferBytes;
  if (limit == 0) limit = 1;
  size_t size = sizeof limit;
  cupti_.activity_set_attribute(cupti::kAttributeDeviceBufferPoolLimit, &size, &limit);
}

bool CuptiClient::NoticeLostBuffers() {
  if (taken_ || (!other_client_.TornDown() && registration_.Ours())) return false;
  taken_ = true;
  return true;
}

void CuptiClient::WatchTaker() {
  other_client_.Watch(cupti_, registration_.Holder(), turns_.mutex());
}

bool CuptiClient::ReclaimBuffers(uint64_t now_ns) {
  constexpr uint64_t kGraceNs = 500'000'000;
  if (!taken_ || !other_client_.DoneFor(now_ns, kGraceNs)) return false;
  FollowTearDown();
  if (registration_.Register(cupti_, BufferRequestedCallback, BufferCompletedCallback) !=
      cupti::kSuccess) {
    return false;
  }
  taken_ = false;
  other_client_.Forget();
  return true;
}

void CuptiClient::FollowClock() {
  if (taken_) return;
  uint64_t cupti_ticks = 0;
  if (cupti_.get_timestamp(&cupti_ticks) != cupti::kSuccess) return;
  const uint64_t realtime_ns = RealtimeNs();
  Recorder& recorder = intake_.recorder();
  const RecorderLock lock(&recorder);
  recorder.clock().Pair(cupti_ticks, realtime_ns);
  clock_known_ = recorder.clock().Known();
}

}  // namespace utlz::agent
