#include "collector/run/nvtx_range_correlator.h"

#include <algorithm>

namespace utlz {
namespace {

uint64_t KeyOf(uint32_t source, uint32_t correlation) {
  return uint64_t{source} << 32 | correlation;
}

}  // namespace

bool NvtxRangeCorrelator::AddCalls(uint32_t source, const LaunchCallBatch& batch) {
  const int count = batch.start_delta_ns_size();
  if (batch.correlation_delta_size() != count || batch.thread_size() != count) return false;
  tracing_.insert(source);
  uint64_t start_ns = batch.base_ns();
  int64_t correlation = 0;
  for (int i = 0; i < count; ++i) {
    start_ns += static_cast<uint64_t>(batch.start_delta_ns(i));
    correlation = static_cast<uint32_t>(correlation + batch.correlation_delta(i));
    const uint64_t key = KeyOf(source, static_cast<uint32_t>(correlation));
    // A call of the runtime and the driver's call inside it share a correlation: one is enough.
    const Call call = {start_ns, batch.thread(i)};
    const auto [place, is_new] = calls_.try_emplace(key, call);
    if (!is_new) continue;
    PlaceWaiting(key, &place->second);
    call_order_.push_back(key);
    if (call_order_.size() <= kMaxCalls) continue;
    calls_.erase(call_order_.front());
    call_order_.pop_front();
  }
  return true;
}

void NvtxRangeCorrelator::AddLaunch(uint32_t source, uint32_t correlation, const Launch& launch) {
  if (correlation == 0) return;
  const uint64_t key = KeyOf(source, correlation);
  if (const auto call = calls_.find(key); call != calls_.end()) {
    Place(source, launch, &call->second);
    return;
  }
  const uint64_t number = first_waiting_ + waiting_.size();
  const auto [chain, is_new] = waiting_by_key_.try_emplace(key, WaitingChain{number, number});
  if (!is_new) {
    waiting_[chain->second.last - first_waiting_].next = number;
    chain->second.last = number;
  }
  waiting_.push_back({key, launch});
  if (waiting_.size() > kMaxWaiting) DropFirstWaiting();
}

void NvtxRangeCorrelator::PlaceWaiting(uint64_t key, Call* call) {
  const auto chain = waiting_by_key_.find(key);
  if (chain == waiting_by_key_.end()) return;
  for (uint64_t number = chain->second.first; number != 0;) {
    Waiting& launch = waiting_[number - first_waiting_];
    Place(static_cast<uint32_t>(key >> 32), launch.launch, call);
    launch.placed = true;
    number = launch.next;
  }
  waiting_by_key_.erase(chain);
  while (!waiting_.empty() && waiting_.front().placed) DropFirstWaiting();
}

void NvtxRangeCorrelator::DropFirstWaiting() {
  const Waiting& first = waiting_.front();
  if (!first.placed) {
    const auto chain = waiting_by_key_.find(first.key);
    chain->second.first = first.next;
    if (first.next == 0) waiting_by_key_.erase(chain);
  }
  waiting_.pop_front();
  ++first_waiting_;
}

void NvtxRangeCorrelator::Place(uint32_t source, const Launch& launch, Call* call) {
  const std::pair key(source, call->thread);
  if (threads_.size() >= kMaxThreads && !threads_.contains(key)) return;
  Thread& thread = threads_[key];
  if (call->launched) {
    thread.complete_until_ns = std::min(thread.complete_until_ns, call->start_ns);
    return;
  }
  call->launched = !launch.of_graph;
  thread.sorted = thread.sorted &&
                  (thread.launches.empty() || thread.launches.back().start_ns <= call->start_ns);
  thread.launches.push_back({call->start_ns, launch.duration_ns, launch.kernel});
  if (++placed_ > kMaxPlaced) ForgetOldest();
}

// Half of each thread's, so that it is seldom.
void NvtxRangeCorrelator::ForgetOldest() {
  for (auto& [key, thread] : threads_) {
    std::sort(thread.launches.begin(), thread.launches.end(),
              [](const Placed& a, const Placed& b) { return a.start_ns < b.start_ns; });
    thread.sorted = true;
    const size_t forgotten = (thread.launches.size() + 1) / 2;
    if (forgotten == 0) continue;
    thread.complete_from_ns = thread.launches[forgotten - 1].start_ns + 1;
    thread.launches.erase(thread.launches.begin(),
                          thread.launches.begin() + static_cast<std::ptrdiff_t>(forgotten));
    placed_ -= forgotten;
  }
}

void NvtxRangeCorrelator::AddRange(uint32_t source, uint32_t thread, uint64_t start_ns,
                                   uint64_t end_ns, MarkerKernels* kernels) {
  if (held_ranges_ >= kMaxRanges) {
    kernels->incomplete = true;
    return;
  }
  ranges_[source].emplace(end_ns, Range{start_ns, end_ns, thread, kernels});
  ++held_ranges_;
}

void NvtxRangeCorrelator::Settle(uint32_t source, uint64_t watermark_ns) {
  const auto held = ranges_.find(source);
  if (held == ranges_.end()) return;
  const auto begin = held->second.begin();
  auto end = begin;
  for (; end != held->second.end() && end->first < watermark_ns; ++end, --held_ranges_) {
    const Range& range = end->second;
    range.kernels->seen = range.kernels->seen || tracing_.contains(source);
    const auto thread = threads_.find({source, range.thread});
    if (thread != threads_.end()) AddUp(&thread->second, range);
  }
  held->second.erase(begin, end);
}

void NvtxRangeCorrelator::SettleAll() {
  for (const auto& [source, ranges] : ranges_) Settle(source, UINT64_MAX);
}

void NvtxRangeCorrelator::AddUp(Thread* thread, const Range& range) {
  if (range.start_ns < thread->complete_from_ns) {
    range.kernels->incomplete = true;
    return;
  }
  if (range.end_ns > thread->complete_until_ns) range.kernels->incomplete = true;
  const auto earlier = [](const Placed& a, const Placed& b) { return a.start_ns < b.start_ns; };
  if (!thread->sorted) {
    std::sort(thread->launches.begin(), thread->launches.end(), earlier);
    thread->sorted = true;
  }
  auto launch = std::lower_bound(thread->launches.begin(), thread->launches.end(),
                                 Placed{range.start_ns, 0, 0}, earlier);
  for (; launch != thread->launches.end() && launch->start_ns <= range.end_ns; ++launch) {
    if (!Count(*launch, range.kernels)) range.kernels->incomplete = true;
  }
}

bool NvtxRangeCorrelator::Count(const Placed& launch, MarkerKernels* kernels) {
  auto placed = kernels->by_kernel.find(launch.kernel);
  if (placed == kernels->by_kernel.end()) {
    if (kernels->passing ? kernels->by_kernel.size() >= kMaxPassing : pairs_ >= kMaxPairs) {
      return false;
    }
    if (!kernels->passing) ++pairs_;
    placed = kernels->by_kernel.emplace(launch.kernel, CorrelatedKernels{}).first;
  }
  ++placed->second.launches;
  placed->second.time_ns += launch.duration_ns;
  return true;
}

}  // namespace utlz
