#include "inject/record/context_tracker.h"

#include "inject/base/memory.h"
#include "inject/base/pb_writer.h"
#include "proto/profile_fields.h"

namespace utlz::agent {

bool ContextTracker::Create(RingWriter* ring) {
  ring_ = ring;
  contexts_seen_ = MapArray<uint32_t>(kContextSlots);
  return contexts_seen_ != nullptr;
}

void ContextTracker::Restart() {
  ClearArray(contexts_seen_, kContextSlots);
  streams_ = 0;
  ForgetContexts();
}

void ContextTracker::SeeAnother(uint32_t device, uint32_t context, uint32_t stream) {
  SeeStream(context, stream);
  SeeRecent(context);
  if (!SeeContext(context, device)) return;  // said again with the next record
  last_device_ = device;
  last_context_ = context;
  last_stream_ = stream;
}

bool ContextTracker::SeeContext(uint32_t context, uint32_t device) {
  uint32_t& seen = contexts_seen_[context % kContextSlots];
  if (seen == context + 1) return true;
  uint8_t bytes[32];
  ByteBuffer message(bytes, sizeof bytes);
  PbWriter out(&message);
  out.Uint(wire::Context::kId, context);
  out.Uint(wire::Context::kDeviceOrdinal, device);
  if (!ring_->Write(wire::kFrameContext, message)) return false;
  seen = context + 1;
  return true;
}

void ContextTracker::SeeRecent(uint32_t context) {
  for (uint32_t i = 0; i < recent_count_; ++i) {
    if (recent_contexts_[i] == context) return;
  }
  if (recent_count_ < kRecentContexts) ++recent_count_;
  recent_contexts_[recent_count_ - 1] = context;
}

bool ContextTracker::SawOnly(const uint32_t* identifiers, uint32_t count) const {
  for (uint32_t i = 0; i < recent_count_; ++i) {
    bool known = false;
    for (uint32_t j = 0; j < count && !known; ++j) known = recent_contexts_[i] == identifiers[j];
    if (!known) return false;
  }
  return true;
}

void ContextTracker::ForgetContexts() {
  recent_count_ = 0;
  last_device_ = UINT32_MAX;
}

void ContextTracker::SeeStream(uint32_t context, uint32_t stream) {
  const uint64_t key = uint64_t{context} << 32 | stream;
  for (uint32_t i = 0; i < streams_; ++i) {
    if (stream_keys_[i] == key) return;
  }
  if (streams_ < kMaxStreams) stream_keys_[streams_++] = key;
}

}  // namespace utlz::agent
