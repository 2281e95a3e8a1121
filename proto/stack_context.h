// What the stack of a batch's next launch is predicted from, on both sides of the wire: the rule of
// LaunchBatch in profile.proto.
#ifndef UTLZ_PROTO_STACK_CONTEXT_H_
#define UTLZ_PROTO_STACK_CONTEXT_H_

#include <cstdint>

namespace utlz {

struct StackContext {
  static constexpr uint32_t kEntries = 1u << 16;  // of the table of predictions
  static constexpr uint32_t kMostRepeats = 255;

  uint32_t last = 0;     // the stack of the launch before
  uint32_t before = 0;   // the last other one before it
  uint32_t repeats = 0;  // for how many launches in a row it has been `last`

  // The entry of the table for the next launch, of this variant.
  constexpr uint32_t EntryOf(uint32_t variant) const {
    return (last * 0x9E3779B1u + before * 0x85EBCA6Bu + repeats * 0xC2B2AE35u +
            variant * 0x27D4EB2Fu) >>
           16;
  }

  // The next launch has this stack.
  constexpr void Advance(uint32_t stack) {
    if (stack == last) {
      if (repeats < kMostRepeats) ++repeats;
      return;
    }
    before = last;
    last = stack;
    repeats = 1;
  }
};

}  // namespace utlz

#endif  // UTLZ_PROTO_STACK_CONTEXT_H_
