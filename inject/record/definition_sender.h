// What launches, ranges and calls refer to by number: strings, kernel variants and stacks. Each
// goes into the ring once, before what refers to it. Under the recorder's lock.
#ifndef UTLZ_INJECT_RECORD_DEFINITION_SENDER_H_
#define UTLZ_INJECT_RECORD_DEFINITION_SENDER_H_

#include <cstdint>

#include "inject/base/pb_writer.h"
#include "inject/base/ring_writer.h"
#include "inject/record/stack_tree.h"
#include "inject/record/string_table.h"
#include "inject/record/variant_table.h"

namespace utlz::agent {

class DefinitionSender {
 public:
  // The most that a frame's variants take.
  static constexpr uint32_t kMaxVariantsPerFrame = 512;
  static constexpr uint32_t kVariantColumns = 19;
  static constexpr uint32_t kMostVariantBytes =
      kMaxVariantsPerFrame * kVariantColumns * kMostVarintBytes;

  // All must outlive it; `scratch` has room for a frame.
  void Create(RingWriter* ring, ByteBuffer* scratch) {
    ring_ = ring;
    scratch_ = scratch;
  }
  // For another collector, which knows nothing yet.
  void Restart();

  // Each sends what is new. False where the ring had no room for all: the next call goes on from
  // there, and what refers to them means nothing until then.
  bool SendStrings(const StringTable& strings);
  bool SendVariants(const VariantTable& variants);
  bool SendStacks(const StackTree& stacks);

  bool HasNewStrings(const StringTable& strings) const { return strings_sent_ < strings.size(); }

 private:
  ByteBuffer* Scratch();
  void WriteVariants(const VariantTable& variants, uint32_t first, uint32_t end,
                     ByteBuffer* message);

  RingWriter* ring_ = nullptr;
  ByteBuffer* scratch_ = nullptr;
  uint32_t strings_sent_ = 0;
  uint32_t variants_sent_ = VariantTable::kFirst;
  uint32_t stacks_sent_ = StackTree::kFirst;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_RECORD_DEFINITION_SENDER_H_
