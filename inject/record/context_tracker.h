// Where the records come from: contexts, which are announced to the collector when their first
// record comes, so that no callback is needed for them, and streams. Belongs to a Recorder, under
// whose lock it is called; never on a launch path.
#ifndef UTLZ_INJECT_RECORD_CONTEXT_TRACKER_H_
#define UTLZ_INJECT_RECORD_CONTEXT_TRACKER_H_

#include <cstdint>

#include "inject/base/ring_writer.h"

namespace utlz::agent {

class ContextTracker {
 public:
  // How many streams are counted; this number stands for that many or more.
  static constexpr uint32_t kMaxStreams = 16;

  // False where there is no memory.
  bool Create(RingWriter* ring);
  // For another collector, which knows no context yet.
  void Restart();

  // A record came from there.
  void See(uint32_t device, uint32_t context, uint32_t stream) {
    if (device != last_device_ || context != last_context_ || stream != last_stream_) {
      SeeAnother(device, context, stream);
    }
  }
  // The same of a record that says no stream. False where the ring was too full to announce it: the
  // next record does.
  bool SeeContext(uint32_t context, uint32_t device);

  // How many streams had work so far.
  uint32_t streams() const { return streams_; }
  // Whether all records since ForgetContexts() came from these contexts.
  bool SawOnly(const uint32_t* identifiers, uint32_t count) const;
  void ForgetContexts();

 private:
  void SeeAnother(uint32_t device, uint32_t context, uint32_t stream);
  void SeeRecent(uint32_t context);
  void SeeStream(uint32_t context, uint32_t stream);

  static constexpr uint32_t kContextSlots = 4096;
  RingWriter* ring_ = nullptr;
  uint32_t* contexts_seen_ = nullptr;  // ring of context identifiers
  // Since ForgetContexts(); the last place is for whatever comes beyond the others.
  static constexpr uint32_t kRecentContexts = 16;
  uint32_t recent_contexts_[kRecentContexts] = {};
  uint32_t recent_count_ = 0;
  uint64_t stream_keys_[kMaxStreams] = {};
  // Where the last record came from; no device has this number.
  uint32_t last_device_ = UINT32_MAX, last_context_ = 0, last_stream_ = 0;
  uint32_t streams_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_CONTEXT_TRACKER_H_
