// The consumer's side of a ring, against a producer that may do anything to the shared memory.
//
// Positions and frames are copied before they are checked. The first broken rule ends the reading
// for good: what such a producer publishes afterwards means nothing.
//
// Not thread safe.
#ifndef UTLZ_COLLECTOR_INGEST_RING_READER_H_
#define UTLZ_COLLECTOR_INGEST_RING_READER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "collector/ingest/ring_mapping.h"

namespace utlz {

enum class RingState {
  kFrame,    // one frame was read
  kPadding,  // only padding was read, so far; there may be more of it, or a frame
  kEmpty,    // nothing more is published
  kBroken,   // a rule was broken, now or before; broken_rule() says which
};

struct RingFrame {
  uint16_t type = 0;         // 1…31: an agent's frame, known or not
  std::string_view payload;  // private copy, checksum checked; valid until the next call
};

class RingReader {
 public:
  explicit RingReader(RingMapping ring);

  // The next frame that is not padding. Its room is given back to the producer at once. Returns
  // after a bounded time whatever the producer publishes meanwhile.
  RingState Next(RingFrame* frame);

  // Why the ring is broken; empty while it is not.
  std::string_view broken_rule() const { return broken_rule_; }

  uint64_t frames() const { return frames_; }
  uint64_t bytes() const { return read_position_; }  // padding included
  const RingMapping& ring() const { return ring_; }

 private:
  RingState Break(std::string_view rule);
  void Consume(uint64_t bytes);

  RingMapping ring_;
  uint64_t read_position_ = 0;   // the shared word is only ever written
  uint64_t write_position_ = 0;  // last copy that was checked
  uint64_t frames_ = 0;
  std::string payload_;
  std::string_view broken_rule_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_INGEST_RING_READER_H_
