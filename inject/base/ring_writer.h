// The producer's end of the shared ring (proto/ring_abi.h).
//
// One writer at a time: the caller holds the agent's encode lock. Writing never waits and makes no
// system call; a frame for which there is no room is refused and counted.
#ifndef UTLZ_INJECT_BASE_RING_WRITER_H_
#define UTLZ_INJECT_BASE_RING_WRITER_H_

#include <cstdint>

#include "inject/base/pb_writer.h"
#include "proto/frame.h"
#include "proto/ring_abi.h"

namespace utlz::agent {

class RingWriter {
 public:
  // Makes the memory file, sealed against resizing, and maps it. Returns its descriptor, which the
  // caller hands over and closes, or −1: no memory, no descriptor, or a limit of file sizes below it.
  int Create(uint64_t data_bytes);

  // Unmaps it; whoever else maps it keeps what was published.
  void Destroy();

  // Publishes one frame. False where the ring is full or `payload` overflowed; `launches` is what
  // the loss then counts.
  bool Write(uint16_t type, const ByteBuffer& payload, uint64_t launches = 0);

  RingHeader* header() const { return header_; }
  uint64_t bytes_written() const { return bytes_written_; }
  uint64_t frames_written() const { return frames_written_; }

 private:
  void PutPadding(uint64_t position, uint64_t bytes);

  RingHeader* header_ = nullptr;
  uint8_t* data_ = nullptr;
  uint64_t data_bytes_ = 0;
  uint64_t bytes_written_ = 0;
  uint64_t frames_written_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_BASE_RING_WRITER_H_
