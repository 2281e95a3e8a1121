#include "inject/record/marker_encoder.h"

#include <initializer_list>

#include "inject/base/columns.h"
#include "inject/base/memory.h"
#include "proto/profile_fields.h"

namespace utlz::agent {

bool MarkerEncoder::Create(StringTable* strings) {
  strings_ = strings;
  open_ = MapArray<Open>(kMaxOpen);
  threads_ = MapArray<ThreadDepth>(kMaxThreads);
  return open_ != nullptr && threads_ != nullptr &&
         MapColumns({&start_, &duration_, &name_, &domain_, &thread_, &depth_}, kMaxMarkers + 1);
}

void MarkerEncoder::Clear() {
  ClearArray(open_, kMaxOpen);
  ClearArray(threads_, kMaxThreads);
}

// Nesting depth by thread; threads that share a slot share a depth, which only shifts indentation.
uint32_t& MarkerEncoder::DepthOf(uint32_t thread) {
  ThreadDepth& entry = threads_[(thread >> 6) % kMaxThreads];
  if (entry.thread != thread) entry = {thread, 0};
  return entry.depth;
}

void MarkerEncoder::Append(const Open& range, uint64_t duration_ns) {
  if (markers_ == 0) base_ns_ = previous_start_ns_ = range.start_ns;
  start_.Varint(ZigZag(static_cast<int64_t>(range.start_ns - previous_start_ns_)));
  duration_.Varint(duration_ns);
  name_.Varint(range.name);
  domain_.Varint(range.domain);
  thread_.Varint(range.thread);
  depth_.Varint(range.depth);
  previous_start_ns_ = range.start_ns;
  ++markers_;
}

void MarkerEncoder::Add(const cupti::MarkerRecord& record) {
  const uint32_t thread = record.object_thread_id;
  // Open ranges are kept by identifier; one that is overwritten (16,384 open at once) is lost.
  Open& slot = open_[record.id % kMaxOpen];
  if ((record.flags & cupti::kMarkerInstantaneous) != 0) {
    const Open mark{record.id,
                    strings_->Intern(record.name),
                    strings_->Intern(record.domain),
                    DepthOf(thread),
                    thread,
                    record.timestamp};
    Append(mark, 0);
  } else if ((record.flags & cupti::kMarkerStart) != 0) {
    slot = {record.id,
            strings_->Intern(record.name),
            strings_->Intern(record.domain),
            DepthOf(thread)++,
            thread,
            record.timestamp};
  } else if ((record.flags & cupti::kMarkerEnd) != 0 && slot.id == record.id && slot.id != 0) {
    uint32_t& depth = DepthOf(slot.thread);
    if (depth > 0) --depth;
    Append(slot, record.timestamp - slot.start_ns);
    slot.id = 0;
  }
}

void MarkerEncoder::Finish(ByteBuffer* message) {
  namespace field = wire::MarkerBatch;
  PbWriter out(message);
  out.Fixed64(field::kBaseNs, base_ns_);
  out.Buffer(field::kStartDeltaNs, start_);
  out.Buffer(field::kDurationNs, duration_);
  out.Buffer(field::kName, name_);
  out.Buffer(field::kDomain, domain_);
  out.Buffer(field::kThread, thread_);
  out.Buffer(field::kDepth, depth_);
  for (ByteBuffer* column : {&start_, &duration_, &name_, &domain_, &thread_, &depth_}) {
    column->Clear();
  }
  markers_ = 0;
}

}  // namespace utlz::agent
