// A producer that does anything to the shared memory, between any two reads.
//
// Input: steps of a command byte and its operands; see Step().
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "collector/ingest/ring_reader.h"
#include "tests/support/test_ring.h"

namespace utlz {
namespace {

class Input {
 public:
  Input(const uint8_t* bytes, size_t size) : bytes_(bytes), left_(size) {}
  bool empty() const { return left_ == 0; }

  template <typename Number>
  Number Take() {
    Number number = 0;
    const size_t size = left_ < sizeof(number) ? left_ : sizeof(number);
    std::memcpy(&number, bytes_, size);
    Skip(size);
    return number;
  }

  std::string_view TakeBytes(size_t wanted) {
    const size_t size = left_ < wanted ? left_ : wanted;
    const std::string_view taken(reinterpret_cast<const char*>(bytes_), size);
    Skip(size);
    return taken;
  }

 private:
  void Skip(size_t size) {
    bytes_ += size;
    left_ -= size;
  }
  const uint8_t* bytes_;
  size_t left_;
};

// Never past the end of the data, unlike the frames themselves.
void Scribble(TestRing* ring, uint64_t place, std::string_view bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) ring->Put(place + i, &bytes[i], 1);
}

// A ring that nobody wrote into is padding of 16 bytes a frame: no call may skip all of it.
RingState ReadOne(TestRing* ring, RingReader* reader, bool is_untouched, RingFrame* frame) {
  constexpr uint64_t kMostPaddingBytes = 16 << 10;
  const uint64_t before = reader->bytes();
  const RingState state = reader->Next(frame);
  if (is_untouched && reader->bytes() - before > kMostPaddingBytes) std::abort();
  if (state == RingState::kFrame && frame->payload.size() > ring->bytes()) std::abort();
  return state;
}

void Step(Input* input, TestRing* ring, RingReader* reader, bool* is_untouched) {
  RingFrame frame;
  switch (input->Take<uint8_t>() % 6) {
    case 0:  // an honest frame of any type
    {
      *is_untouched = false;
      const uint16_t type = input->Take<uint8_t>();
      ring->Write(type, input->TakeBytes(input->Take<uint16_t>()));
    } break;
    case 1:
      ring->Publish(input->Take<uint64_t>());
      break;
    case 2:
      ring->Publish(ring->written() + input->Take<uint16_t>());
      break;
    case 3:
      *is_untouched = false;
      Scribble(ring, ring->written() + input->Take<uint16_t>(),
               input->TakeBytes(input->Take<uint8_t>()));
      break;
    case 4:
      ring->header().consumer.read_position = input->Take<uint64_t>();
      break;
    case 5:
      for (RingState state = RingState::kFrame;
           state == RingState::kFrame || state == RingState::kPadding;) {
        state = ReadOne(ring, reader, *is_untouched, &frame);
      }
      break;
  }
}

}  // namespace
}  // namespace utlz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  utlz::TestRing ring;
  absl::StatusOr<utlz::RingMapping> mapping = utlz::RingMapping::Map(ring.fd(), ring.bytes());
  if (!mapping.ok()) std::abort();
  utlz::RingReader reader(*std::move(mapping));
  bool is_untouched = true;
  for (utlz::Input input(bytes, size); !input.empty();) {
    utlz::Step(&input, &ring, &reader, &is_untouched);
  }
  return 0;
}
