#include "inject/base/ring_writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <new>

#include "inject/base/clock.h"

namespace utlz::agent {
namespace {

// A file that grows beyond the program's limit (ulimit -f) ends it with SIGXFSZ, a ring too.
bool FileMayHave(uint64_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= bytes;
}

}  // namespace

int RingWriter::Create(uint64_t data_bytes) {
  const uint64_t total = kRingHeaderBytes + data_bytes;
  if (!FileMayHave(total)) return -1;
  const int file = memfd_create("utlz-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return -1;
  void* memory = MAP_FAILED;
  if (ftruncate(file, static_cast<off_t>(total)) == 0 &&
      fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
    memory = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  if (memory == MAP_FAILED) {
    close(file);
    return -1;
  }
  header_ = new (memory) RingHeader{};
  header_->magic = kRingMagic;
  header_->abi_version = kAgentAbiVersion;
  header_->header_bytes = kRingHeaderBytes;
  header_->data_bytes = data_bytes;
  header_->pid = static_cast<uint64_t>(getpid());
  header_->start_realtime_ns = RealtimeNs();
  data_ = static_cast<uint8_t*>(memory) + kRingHeaderBytes;
  data_bytes_ = data_bytes;
  return file;
}

void RingWriter::Destroy() {
  if (header_ != nullptr) munmap(header_, kRingHeaderBytes + data_bytes_);
  *this = {};
}

void RingWriter::PutPadding(uint64_t position, uint64_t bytes) {
  // Frames are multiples of 8, so the rest of the data may be a mere half header: a reader treats
  // fewer than 16 bytes before the end as padding by definition.
  if (bytes < sizeof(FrameHeader)) return;
  FrameHeader padding{static_cast<uint32_t>(bytes - sizeof(FrameHeader)), 0, 0, 0, 0};
  std::memcpy(data_ + position, &padding, sizeof padding);
}

bool RingWriter::Write(uint16_t type, const ByteBuffer& payload, uint64_t launches) {
  RingProducer& producer = header_->producer;
  const uint64_t frame_bytes = FrameBytes(payload.size());
  uint64_t write = producer.write_position.load(std::memory_order_relaxed);
  // The consumer is no more trusted than the producer is by it: a position that makes no sense
  // reads as a full ring.
  const uint64_t used = write - header_->consumer.read_position.load(std::memory_order_acquire);
  const uint64_t until_end = data_bytes_ - write % data_bytes_;
  const uint64_t padding = frame_bytes > until_end ? until_end : 0;
  if (payload.overflowed() || used > data_bytes_ || frame_bytes + padding > data_bytes_ - used) {
    producer.frames_dropped.fetch_add(1, std::memory_order_relaxed);
    producer.launches_dropped.fetch_add(launches, std::memory_order_relaxed);
    return false;
  }
  if (padding != 0) {
    PutPadding(write % data_bytes_, padding);
    write += padding;
  }
  FrameHeader header{payload.size(), type, 0, 0, 0};
  header.checksum = FrameChecksum(header, payload.data());
  uint8_t* place = data_ + write % data_bytes_;
  std::memcpy(place, &header, sizeof header);
  std::memcpy(place + sizeof header, payload.data(), payload.size());
  const uint64_t tail = frame_bytes - sizeof header - payload.size();
  std::memset(place + sizeof header + payload.size(), 0, tail);
  producer.write_position.store(write + frame_bytes, std::memory_order_release);
  bytes_written_ += frame_bytes;
  ++frames_written_;
  return true;
}

}  // namespace utlz::agent
