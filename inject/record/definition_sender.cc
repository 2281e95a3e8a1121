#include "inject/record/definition_sender.h"

#include "proto/profile_fields.h"

namespace utlz::agent {
namespace {

uint32_t Positive(int32_t value) { return value > 0 ? static_cast<uint32_t>(value) : 0; }

uint32_t FlagsOf(const VariantKey& key) {
  return (key.cooperative ? wire::kVariantCooperative : wire::kVariantPlain) |
         (key.overflow ? wire::kVariantOverflow : wire::kVariantPlain);
}

}  // namespace

ByteBuffer* DefinitionSender::Scratch() {
  scratch_->Clear();
  return scratch_;
}

void DefinitionSender::Restart() {
  strings_sent_ = 0;
  variants_sent_ = VariantTable::kFirst;
  stacks_sent_ = StackTree::kFirst;
}

bool DefinitionSender::SendStrings(const StringTable& strings) {
  constexpr uint32_t kMaxFrameBytes = 256 << 10;
  while (strings_sent_ < strings.size()) {
    ByteBuffer* message = Scratch();
    PbWriter out(message);
    out.Uint(wire::Strings::kFirst, strings_sent_);
    uint32_t id = strings_sent_;
    while (id < strings.size() && message->size() < kMaxFrameBytes) {
      out.BytesAlways(wire::Strings::kValues, strings.Text(id), strings.Length(id));
      ++id;
    }
    if (!ring_->Write(wire::kFrameStrings, *message)) return false;
    strings_sent_ = id;
  }
  return true;
}

bool DefinitionSender::SendVariants(const VariantTable& variants) {
  while (variants_sent_ < variants.size()) {
    const uint32_t first = variants_sent_;
    const uint32_t end = first + kMaxVariantsPerFrame < variants.size()
                             ? first + kMaxVariantsPerFrame
                             : variants.size();
    ByteBuffer* message = Scratch();
    WriteVariants(variants, first, end, message);
    if (!ring_->Write(wire::kFrameVariants, *message)) return false;
    variants_sent_ = end;
  }
  return true;
}

void DefinitionSender::WriteVariants(const VariantTable& variants, uint32_t first, uint32_t end,
                                     ByteBuffer* message) {
  namespace field = wire::Variants;
  PbWriter out(message);
  out.Uint(field::kFirst, first);
  uint8_t bytes[kMaxVariantsPerFrame * kMostVarintBytes];
  ByteBuffer column(bytes, sizeof bytes);
  const auto put = [&](uint32_t number, auto value_of) {
    column.Clear();
    for (uint32_t id = first; id < end; ++id) column.Varint(value_of(variants.At(id)));
    out.Buffer(number, column);
  };
  put(field::kName, [](const Variant& v) { return v.name; });
  put(field::kModule, [](const Variant& v) { return v.module; });
  put(field::kGridX, [](const Variant& v) { return Positive(v.key.grid_x); });
  put(field::kGridY, [](const Variant& v) { return Positive(v.key.grid_y); });
  put(field::kGridZ, [](const Variant& v) { return Positive(v.key.grid_z); });
  put(field::kBlockX, [](const Variant& v) { return Positive(v.key.block_x); });
  put(field::kBlockY, [](const Variant& v) { return Positive(v.key.block_y); });
  put(field::kBlockZ, [](const Variant& v) { return Positive(v.key.block_z); });
  put(field::kClusterX, [](const Variant& v) { return v.key.cluster_x; });
  put(field::kClusterY, [](const Variant& v) { return v.key.cluster_y; });
  put(field::kClusterZ, [](const Variant& v) { return v.key.cluster_z; });
  put(field::kRegistersPerThread, [](const Variant& v) { return v.key.registers_per_thread; });
  put(field::kStaticSharedBytes,
      [](const Variant& v) { return Positive(v.key.static_shared_bytes); });
  put(field::kDynamicSharedBytes,
      [](const Variant& v) { return Positive(v.key.dynamic_shared_bytes); });
  put(field::kLocalBytesPerThread, [](const Variant& v) { return v.key.local_bytes_per_thread; });
  put(field::kGraphNode, [](const Variant& v) { return v.key.graph_node; });
  put(field::kGraph, [](const Variant& v) { return v.key.graph; });
  put(field::kFlags, [](const Variant& v) { return FlagsOf(v.key); });
  bool any_captured = false;
  for (uint32_t id = first; id < end; ++id) any_captured |= variants.At(id).captured_stack != 0;
  if (any_captured) put(field::kCapturedStack, [](const Variant& v) { return v.captured_stack; });
}

bool DefinitionSender::SendStacks(const StackTree& stacks) {
  while (stacks_sent_ < stacks.size()) {
    ByteBuffer* message = Scratch();
    const uint32_t next = stacks.Write(stacks_sent_, message);
    if (!ring_->Write(wire::kFrameStacks, *message)) return false;
    stacks_sent_ = next;
  }
  return true;
}

}  // namespace utlz::agent
