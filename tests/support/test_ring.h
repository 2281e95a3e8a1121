// A ring as an agent would make it, whose producer obeys every rule or, where a test asks, none.
#ifndef UTLZ_TESTS_SUPPORT_TEST_RING_H_
#define UTLZ_TESTS_SUPPORT_TEST_RING_H_

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <new>
#include <string_view>

#include "collector/unique_fd.h"
#include "proto/frame.h"
#include "proto/ring_abi.h"

namespace utlz {

struct TestRingOptions {
  uint64_t data_bytes = kRingMinDataBytes;
  unsigned int memfd_flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  int seals = F_SEAL_SHRINK | F_SEAL_GROW;
};

class TestRing {
 public:
  explicit TestRing(const TestRingOptions& options = {})
      : data_bytes_(options.data_bytes), fd_(memfd_create("test-ring", options.memfd_flags)) {
    if (ftruncate(fd_.get(), static_cast<off_t>(bytes())) != 0) return;
    if (options.seals != 0) fcntl(fd_.get(), F_ADD_SEALS, options.seals);
    void* memory = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
    if (memory == MAP_FAILED) return;
    header_ = new (memory) RingHeader{};
    header_->magic = kRingMagic;
    header_->abi_version = kAgentAbiVersion;
    header_->header_bytes = kRingHeaderBytes;
    header_->data_bytes = data_bytes_;
  }
  TestRing(const TestRing&) = delete;
  TestRing& operator=(const TestRing&) = delete;
  ~TestRing() {
    if (header_ != nullptr) munmap(header_, bytes());
  }

  int fd() const { return fd_.get(); }
  uint64_t bytes() const { return kRingHeaderBytes + data_bytes_; }
  RingHeader& header() { return *header_; }
  char* data() { return reinterpret_cast<char*>(header_) + kRingHeaderBytes; }
  uint64_t written() const { return header_->producer.write_position; }
  uint64_t read() const { return header_->consumer.read_position; }

  // False where there is no room.
  bool Write(uint16_t type, std::string_view payload) {
    FrameHeader frame = {static_cast<uint32_t>(payload.size()), type, 0, 0, 0};
    frame.checksum = FrameChecksum(frame, payload.data());
    const uint64_t frame_bytes = FrameBytes(frame.payload_bytes);
    const uint64_t to_end = data_bytes_ - written() % data_bytes_;
    const uint64_t padding = frame_bytes > to_end ? to_end : 0;
    if (frame_bytes + padding > data_bytes_ - (written() - read())) return false;
    if (padding >= sizeof(FrameHeader)) {
      const FrameHeader rest = {static_cast<uint32_t>(padding - sizeof(FrameHeader)), 0, 0, 0, 0};
      Put(written(), &rest, sizeof(rest));
    }
    const uint64_t position = written() + padding;
    Put(position, &frame, sizeof(frame));
    Put(position + sizeof(frame), payload.data(), payload.size());
    Publish(position + frame_bytes);
    return true;
  }

  void Put(uint64_t position, const void* bytes, size_t size) {
    std::memcpy(data() + position % data_bytes_, bytes, size);
  }
  void Publish(uint64_t position) { header_->producer.write_position = position; }

 private:
  uint64_t data_bytes_;
  UniqueFd fd_;
  RingHeader* header_ = nullptr;
};

}  // namespace utlz

#endif  // UTLZ_TESTS_SUPPORT_TEST_RING_H_
