#include "collector/run/collective_sizes.h"

#include <algorithm>
#include <cmath>

#include "collector/kernel_names/kernel_class.h"

namespace utlz {
namespace {

bool ColumnsAgree(const CommunicationCallBatch& batch) {
  const int count = batch.time_delta_ns_size();
  return batch.thread_size() == count && batch.function_size() == count &&
         batch.bytes_size() == count && batch.communicator_size() == count &&
         batch.ranks_size() == count;
}

bool BeginsGroup(std::string_view function) { return function == "ncclGroupStart"; }
bool EndsGroup(std::string_view function) {
  return function == "ncclGroupEnd" || function == "ncclGroupSimulateEnd";
}

}  // namespace

bool CollectiveSizes::Add(const ProcessState& process, const CommunicationCallBatch& batch,
                          NvtxRangeCorrelator* correlator) {
  if (!ColumnsAgree(batch)) return false;
  known_ = known_ || batch.function_size() > 0;
  // Begins and ends no longer match where some were lost.
  if (batch.lost() != 0) Forget(process.source);
  Source& source = sources_[process.source];
  uint64_t time_ns = batch.base_ns();
  for (int i = 0; i < batch.function_size(); ++i) {
    time_ns += static_cast<uint64_t>(batch.time_delta_ns(i));
    const std::pair key(process.source, batch.thread(i));
    if (threads_.size() >= kMaxThreads && !threads_.contains(key)) continue;
    Thread& thread = threads_[key];
    const uint32_t function = batch.function(i);
    if (function != 0) {
      const bool known = function - 1 < process.strings.size();
      Begin(known ? std::string_view(process.strings[function - 1]) : "", time_ns, &thread);
    }
    if (batch.ranks(i) != 0) Learn(batch.communicator(i), batch.ranks(i), &source);
    if (batch.bytes(i) != 0 && !thread.open.empty() && thread.operation != nullptr) {
      if (const CollectiveKind* kind = CollectiveKindOf(thread.open.back())) {
        AddMember(*kind, batch.bytes(i) - 1, RanksOf(batch.communicator(i), source),
                  thread.operation.get());
      }
    }
    if (function == 0) End(process.source, batch.thread(i), time_ns, &thread, correlator);
  }
  if (batch.lost() != 0) Forget(process.source);
  return true;
}

void CollectiveSizes::Begin(std::string_view function, uint64_t time_ns, Thread* thread) {
  if (thread->open.size() >= kMaxDepth) {  // no real program's
    *thread = {};
    return;
  }
  if (thread->operation == nullptr) {
    thread->operation = std::make_unique<Operation>();
    thread->operation->start_ns = time_ns;
  }
  thread->open.emplace_back(function.substr(0, kMaxFunctionBytes));
}

void CollectiveSizes::End(uint32_t source, uint32_t thread_id, uint64_t time_ns, Thread* thread,
                          NvtxRangeCorrelator* correlator) {
  if (thread->open.empty()) return;
  if (BeginsGroup(thread->open.back())) ++thread->groups;
  if (EndsGroup(thread->open.back()) && thread->groups > 0) --thread->groups;
  thread->open.pop_back();
  if (!thread->open.empty() || thread->groups > 0) return;
  std::unique_ptr<Operation> operation = std::move(thread->operation);
  if (operation == nullptr || operation->members == 0 || waiting_ >= kMaxWaiting) return;
  operation->end_ns = time_ns;
  operation->kernels.passing = true;
  correlator->AddRange(source, thread_id, operation->start_ns, operation->end_ns,
                       &operation->kernels);
  operation->number = ++operations_;
  sources_[source].waiting.emplace(time_ns, std::move(operation));
  ++waiting_;
}

void CollectiveSizes::Learn(uint64_t communicator, uint32_t ranks, Source* source) {
  if (communicators_ >= kMaxCommunicators) return;
  communicators_ -= source->ranks.size() + source->unnamed_ranks.size();
  if (communicator == 0) {
    source->unnamed_ranks.insert(ranks);
  } else {
    source->ranks[communicator] = ranks;
  }
  communicators_ += source->ranks.size() + source->unnamed_ranks.size();
}

// A communicator without a name can only be distinguished from others where all are alike.
uint32_t CollectiveSizes::RanksOf(uint64_t communicator, const Source& source) {
  const auto named = source.ranks.find(communicator);
  if (named != source.ranks.end()) return named->second;
  return source.unnamed_ranks.size() == 1 ? *source.unnamed_ranks.begin() : 0;
}

void CollectiveSizes::AddMember(const CollectiveKind& kind, uint64_t bytes, uint32_t ranks,
                                Operation* operation) {
  if (operation->members >= kMaxMembers) {
    operation->kernels.incomplete = true;
    return;
  }
  ++operation->members;
  Part part = {.calls = 1, .ranks = ranks};
  part.whole_known = !kind.size_is_of_a_rank || ranks != 0;
  const double whole = static_cast<double>(bytes) * (kind.size_is_of_a_rank ? ranks : 1);
  if (kind.function == "ncclSend") {
    part.sent_bytes = whole;
  } else if (kind.function == "ncclRecv") {
    part.received_bytes = whole;
  } else {
    part.bytes = whole;
    part.link_known = kind.link_share == LinkShare::kAll || ranks > 1;
    part.link_bytes = part.link_known ? whole * LinkBytes(kind.link_share, ranks) : 0;
  }
  operation->parts[kind.kernels].Add(part);
}

void CollectiveSizes::Part::Add(const Part& other) {
  ranks = calls == 0 || ranks == other.ranks ? other.ranks : 0;
  calls += other.calls;
  bytes += other.bytes;
  sent_bytes += other.sent_bytes;
  received_bytes += other.received_bytes;
  link_bytes += other.link_bytes;
  whole_known = whole_known && other.whole_known;
  link_known = link_known && other.link_known;
}

void CollectiveSizes::Forget(uint32_t source) {
  threads_.erase(threads_.lower_bound({source, 0}), threads_.upper_bound({source, UINT32_MAX}));
}

void CollectiveSizes::Settle(uint32_t source, uint64_t watermark_ns, const KernelTable& kernels) {
  const auto found = sources_.find(source);
  if (found == sources_.end()) return;
  for (const auto& operation : TakeEnded(watermark_ns, &found->second)) {
    if (!operation->kernels.incomplete) Count(*operation, kernels);
    --waiting_;
  }
}

std::vector<std::unique_ptr<CollectiveSizes::Operation>> CollectiveSizes::TakeEnded(
    uint64_t watermark_ns, Source* source) {
  std::vector<std::unique_ptr<Operation>> ended;
  const auto begin = source->waiting.begin();
  const auto end = source->waiting.lower_bound(watermark_ns);
  for (auto each = begin; each != end; ++each) ended.push_back(std::move(each->second));
  source->waiting.erase(begin, end);
  std::sort(ended.begin(), ended.end(),
            [](const auto& a, const auto& b) { return a->number < b->number; });
  return ended;
}

void CollectiveSizes::SettleAll(const KernelTable& kernels) {
  for (const auto& [source, unused] : sources_) Settle(source, UINT64_MAX, kernels);
}

void CollectiveSizes::Count(const Operation& operation, const KernelTable& kernels) {
  std::map<std::string_view, Launched> launched;
  for (const auto& [index, placed] : operation.kernels.by_kernel) {
    const Kernel& kernel = kernels[index];
    if (!kernel.communication) continue;
    Launched& sum = launched[CollectiveOf(kernel.mangled_name)];
    sum.launches += placed.launches;
    sum.time_ns += static_cast<double>(placed.time_ns);
  }
  if (launched.size() == 1) {
    // A group of several collectives in one kernel: its bytes are all of theirs.
    Part all;
    for (const auto& [collective, part] : operation.parts) all.Add(part);
    return Count(launched.begin()->first, all, launched.begin()->second);
  }
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (!std::equal(launched.begin(), launched.end(), operation.parts.begin(), operation.parts.end(),
                  same)) {
    return;
  }
  for (const auto& [collective, sum] : launched) {
    Count(collective, operation.parts.at(collective), sum);
  }
}

void CollectiveSizes::Count(std::string_view collective, const Part& part,
                            const Launched& launched) {
  if (!part.whole_known) {
    launches_without_ranks_ += launched.launches;
    return;
  }
  const double point_to_point = std::max(part.sent_bytes, part.received_bytes);
  const double bytes = part.bytes + point_to_point;
  const double of_a_launch = std::max(1.0, bytes / static_cast<double>(launched.launches));
  CollectiveGroup group = {.collective = std::string(collective),
                           .ranks = part.ranks,
                           .size_log2 = static_cast<uint32_t>(std::ilogb(of_a_launch))};
  if (groups_.size() >= kMaxGroups && !groups_.contains(group)) return;
  CollectiveTotals& totals = groups_[std::move(group)];
  totals.launches += launched.launches;
  totals.time_ns += launched.time_ns;
  totals.bytes += bytes;
  if (!part.link_known) return;
  totals.link_bytes += part.link_bytes + point_to_point;
  totals.link_time_ns += launched.time_ns;
}

}  // namespace utlz
