#include "inject/record/recorder.h"

#include "inject/base/clock.h"
#include "inject/base/memory.h"
#include "inject/record/api_record_filter.h"
#include "inject/record/copy_records.h"
#include "inject/record/first_launch_watch.h"
#include "proto/profile_fields.h"

namespace utlz::agent {
namespace {

constexpr uint32_t kScratchBytes = 4 << 20;
static_assert(DefinitionSender::kMostVariantBytes < kScratchBytes / 2);

}  // namespace

bool Recorder::Create(RingWriter* ring, const CuptiApi* api, bool with_correlation) {
  ring_ = ring;
  api_ = api;
  auto* scratch = MapArray<uint8_t>(kScratchBytes);
  scratch_ = ByteBuffer(scratch, kScratchBytes);
  definitions_.Create(ring, &scratch_);
  return scratch != nullptr && contexts_.Create(ring) && strings_.Create() &&
         variants_.Create(&strings_) && launches_.Create(&variants_, with_correlation) &&
         copies_.Create() && markers_.Create(&strings_) && calls_.Create() &&
         communication_.Create(&strings_);
}

void Recorder::Restart(bool with_correlation) {
  Lock();
  // Drops late records of the recording before.
  launches_.Finish(Scratch());
  if (stacks_.ready()) stacks_.encoder().Finish(Scratch());
  stacks_.Restart();
  copies_.Finish(Scratch());
  markers_.Finish(Scratch());
  calls_.Finish(Scratch());
  launches_.SetWithCorrelation(with_correlation);
  strings_.Clear();
  variants_.Clear();
  markers_.Clear();
  contexts_.Restart();
  definitions_.Restart();
  counts_ = {};
  recent_ = {};
  Unlock();
}

ByteBuffer* Recorder::Scratch() {
  scratch_.Clear();
  return &scratch_;
}

bool Recorder::CreateStacks(const PythonLayout& layout) {
  if (stacks_.ready()) return true;
  FlushLaunches();  // a batch has a stack for each of its launches, or for none
  return stacks_.Create(layout, &strings_);
}

void Recorder::Consume(uint8_t* buffer, size_t valid_bytes) {
  const uint64_t begin_ns = MonotonicNs();
  variants_.BeginBuffer();
  if (stacks_.ready()) stacks_.TakeNewStacks();
  walker_.Begin(api_->activity_get_next_record, buffer, valid_bytes);
  while (cupti::RecordHead* record = walker_.Next()) {
    if (clock_.foreign()) clock_.ConvertTimes(record);
    if (record->kind == cupti::kKindConcurrentKernel) {
      ConsumeKernel(*reinterpret_cast<const cupti::KernelRecord*>(record));
    } else {
      ConsumeRecord(record);
    }
  }
  // Launches of kernels that are new go at once: a ring too full for all their names together still
  // takes those of one buffer.
  if (definitions_.HasNewStrings(strings_)) Flush();
  counts_.encode_ns += MonotonicNs() - begin_ns;
}

void Recorder::ConsumeRecord(const cupti::RecordHead* record) {
  switch (record->kind) {
    case cupti::kKindMemcpy:
      return ConsumeMemcpy(*reinterpret_cast<const cupti::MemcpyRecord*>(record));
    case cupti::kKindMemcpy2:
      return ConsumePeerCopy(*reinterpret_cast<const cupti::PeerCopyRecord*>(record));
    case cupti::kKindMemset:
      return ConsumeMemset(*reinterpret_cast<const cupti::MemsetRecord*>(record));
    case cupti::kKindMarker:
      markers_.Add(*reinterpret_cast<const cupti::MarkerRecord*>(record));
      if (markers_.Full()) Flush();
      return;
    case cupti::kKindDriver:
    case cupti::kKindRuntime:
      return ConsumeCall(*reinterpret_cast<const cupti::ApiRecord*>(record));
    case cupti::kKindOverhead: {
      const auto& overhead = *reinterpret_cast<const cupti::OverheadRecord*>(record);
      if (!IsLoading(overhead)) return;
      ++counts_.loads;
      recent_.AddLoad(overhead.end);
      CountNewWork(overhead.end);
      return;
    }
    default:
      ++counts_.unknown;
  }
}

void Recorder::ConsumeCall(const cupti::ApiRecord& call) {
  if (Holds(kNewWorkCalls, call)) {
    CountNewWork(call.end);
    counts_.operations.AddCall(call.correlation_id);
  }
  if (Holds(kLaunchCalls, call)) calls_.Add(call);
  if (calls_.Full()) Flush();
}

void Recorder::CountNewWork(uint64_t time_ns) {
  if (switch_times_.HardlyTracedSince(time_ns)) ++counts_.new_work;
}

bool Recorder::CutBySwitch(const cupti::KernelRecord& record) const {
  return switch_times_.Cut(record.start, record.end, record.graph_node_id != 0);
}

uint32_t Recorder::StackOf(const cupti::KernelRecord& record) {
  if (!stacks_.ready()) return 0;
  return record.graph_node_id != 0 ? stacks_.NumberOfGraphLaunch(record.correlation_id)
                                   : stacks_.TakeNumberOf(record.correlation_id);
}

void Recorder::ConsumeKernel(const cupti::KernelRecord& record) {
  const uint32_t known_variants = variants_.size();
  const uint32_t variant = variants_.Find(record);
  ++counts_.launches;
  const uint32_t stack = StackOf(record);
  if (record.graph_node_id != 0) {
    ++counts_.graph_nodes;
    if (stacks_.ready() && variant >= known_variants) {
      variants_.At(variant).captured_stack = stacks_.NumberOfNode(record.graph_node_id);
    }
  }
  const bool untimed = record.start == 0 || record.end == 0 || CutBySwitch(record);
  Count(record.correlation_id, record.graph_node_id != 0, !untimed);
  contexts_.See(record.device_id, record.context_id, record.stream_id);
  if (untimed) {
    ++counts_.untimed;
    launches_.AddUntimed(variant);
  } else {
    launches_.Add({variant, record.start, record.end, record.stream_id, record.context_id,
                   record.graph_node_id != 0 ? record.correlation_id : 0, record.correlation_id});
    recent_.AddLaunch(record.start, record.end, record.graph_node_id != 0);
    if (stacks_.ready()) stacks_.encoder().Add(variant, stack);
  }
  if (launches_.Full()) FlushLaunches();
}

void Recorder::ConsumeMemcpy(const cupti::MemcpyRecord& record) {
  contexts_.See(record.device_id, record.context_id, record.stream_id);
  AddCopy(record.correlation_id, CopyOf(record));
}

void Recorder::ConsumePeerCopy(const cupti::PeerCopyRecord& record) {
  contexts_.SeeContext(record.context_id, record.device_id);
  AddCopy(record.correlation_id, CopyOf(record));
}

void Recorder::ConsumeMemset(const cupti::MemsetRecord& record) {
  contexts_.See(record.device_id, record.context_id, record.stream_id);
  AddCopy(record.correlation_id, CopyOf(record));
}

void Recorder::AddCopy(uint32_t correlation, const Copy& copy) {
  Count(correlation, copy.graph_node != 0, copy.graph_node == 0);
  copies_.Add(copy);
  if (copies_.Full()) Flush();
}

void Recorder::Flush() {
  FlushLaunches();
  if (!copies_.Empty()) {
    ByteBuffer* message = Scratch();
    copies_.Finish(message);
    Send(wire::kFrameCopies, *message);
  }
  if (!markers_.Empty()) {
    const bool named = SendStrings();
    ByteBuffer* message = Scratch();
    markers_.Finish(message);
    if (named) Send(wire::kFrameMarkers, *message);
  }
  if (!calls_.Empty()) {
    ByteBuffer* message = Scratch();
    calls_.Finish(message);
    Send(wire::kFrameLaunchCalls, *message);
  }
  if (WatchesCommunication()) FlushCommunication();
  if (stacks_.ready()) FlushThreadStacks();
}

void Recorder::TakeStacks(bool sample_threads) {
  stacks_.TakeNewStacks();
  if (!sample_threads) return;
  stacks_.SampleThreads(RealtimeNs());
  if (stacks_.thread_stacks().Full()) FlushThreadStacks();
}

void Recorder::FlushThreadStacks() {
  ThreadStackEncoder& samples = stacks_.thread_stacks();
  if (samples.Empty()) return;
  const bool defined = SendStrings() && definitions_.SendStacks(stacks_.tree());
  ByteBuffer* message = Scratch();
  samples.Finish(message);
  if (defined) Send(wire::kFrameThreadStacks, *message);
}

void Recorder::FlushCommunication() {
  CommunicationCall call;
  bool more = true;
  while (more) {
    while (!communication_.Full() && (more = TakeCommunicationCall(&call))) {
      communication_.Add(call);
    }
    communication_lost_ += TakeLostCommunicationCalls();
    if (communication_.Empty() && communication_lost_ == 0) return;
    const bool named = SendStrings();
    const uint32_t calls = communication_.calls();
    ByteBuffer* message = Scratch();
    communication_.Finish(communication_lost_, message);
    communication_lost_ =
        named && Send(wire::kFrameCommunicationCalls, *message) ? 0 : communication_lost_ + calls;
    if (communication_lost_ != 0) return;  // the ring is full: what is left waits for the next time
  }
}

void Recorder::SendCompiledCode(uint32_t file) {
  stacks_.compiled_files().Name(&strings_);
  if (!SendStrings()) return;  // the ring is full: operations are then those of kernels' names
  ByteBuffer* message = Scratch();
  stacks_.compiled_files().Write(file, message);
  Send(wire::kFrameCompiledCode, *message);
}

void Recorder::FlushLaunches() {
  if (launches_.Empty()) return;
  // A launch whose variant is not known to the reader means nothing, so definitions go first, and
  // go again with the next batch where there was no room for them.
  const bool defined = SendStrings() && definitions_.SendVariants(variants_) &&
                       (!stacks_.ready() || definitions_.SendStacks(stacks_.tree()));
  const uint32_t launches = launches_.launches();
  ByteBuffer* message = Scratch();
  launches_.Finish(message);
  if (stacks_.ready()) stacks_.encoder().Finish(message);
  if (defined) {
    ring_->Write(wire::kFrameLaunches, *message, launches);
  } else {
    ring_->header()->producer.launches_dropped.fetch_add(launches, std::memory_order_relaxed);
  }
}

}  // namespace utlz::agent
