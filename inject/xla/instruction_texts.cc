#include "inject/xla/instruction_texts.h"

#include <cstring>
#include <string_view>

#include "inject/base/memory.h"

namespace utlz::agent {
namespace {

constexpr std::string_view kInstructionTitle = "Thunk:#", kProgramTitle = "XlaModule:#";
// Only programs that the user runs have one.
constexpr std::string_view kProgramNumber = ",program_id=";
constexpr std::string_view kLines = "\n- ";
constexpr std::string_view kMetadata = "metadata={", kOperation = "op_name=\"";

uint32_t HashOf(std::string_view text) {
  uint64_t hash = text.size();
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return static_cast<uint32_t>(hash * 0x9E3779B97F4A7C15u >> 40);
}

// `jit(step)/mul` of `loop_multiply_fusion = f32[8] fusion(x), metadata={op_name="jit(step)/mul"
// …}`
std::string_view OperationOf(std::string_view instruction) {
  const size_t metadata = instruction.find(kMetadata);
  if (metadata == std::string_view::npos) return {};
  const size_t begin = instruction.find(kOperation, metadata);
  if (begin == std::string_view::npos) return {};
  const std::string_view rest = instruction.substr(begin + kOperation.size());
  const size_t end = rest.find('"');
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

}  // namespace

bool InstructionTexts::Create() {
  entries_ = MapArray<Entry>(kMostTitles);
  arena_ = MapArray<char>(kArenaBytes);
  text_slots_ = MapArray<uint32_t>(kSlots);
  handles_ = MapArray<Handle>(kSlots);
  return entries_ != nullptr && arena_ != nullptr && text_slots_ != nullptr && handles_ != nullptr;
}

uint32_t InstructionTexts::Intern(const char* text, size_t length) {
  if (length == 0) return 0;
  const uint32_t hash = HashOf({text, length});
  for (uint32_t probe = 0; probe < kProbes; ++probe) {
    uint32_t& slot = text_slots_[(hash + probe) % kSlots];
    if (slot == 0) {
      if (length >= kArenaBytes - used_bytes_) return 0;
      std::memcpy(arena_ + used_bytes_, text, length);
      slot = used_bytes_;
      used_bytes_ += static_cast<uint32_t>(length) + 1;
      return slot;
    }
    if (std::string_view(arena_ + slot) == std::string_view(text, length)) return slot;
  }
  return 0;
}

uint32_t InstructionTexts::AddTitle(const char* text, size_t length) {
  const uint32_t number = count_.load(std::memory_order_relaxed);
  const uint32_t place = number < kMostTitles ? Intern(text, length) : 0;
  if (place == 0) return 0;
  const std::string_view title(text, length);
  Entry& entry = entries_[number];
  entry.title = place;
  entry.kind = title.starts_with(kInstructionTitle)                   ? Kind::kInstruction
               : title.find(kProgramNumber) != std::string_view::npos ? Kind::kProgram
                                                                      : Kind::kTrial;
  count_.store(number + 1, std::memory_order_release);
  return number;
}

uint32_t InstructionTexts::Register(const char* text, uint32_t title) {
  if (text == nullptr) return title;
  const size_t length = strnlen(text, kMostTextBytes);
  const std::string_view view(text, length);
  const bool is_title = view.starts_with(kInstructionTitle) || view.starts_with(kProgramTitle);
  if (!is_title && (title == 0 || KindOf(title) != Kind::kInstruction)) return title;
  pthread_mutex_lock(&mutex_);
  if (is_title) {
    title = AddTitle(text, length);
  } else if (view.starts_with(kLines)) {
    entries_[title].lines.store(Intern(text, length), std::memory_order_release);
  } else if (const std::string_view operation = OperationOf(view);
             !operation.empty() && view[0] != '\n') {
    entries_[title].operation.store(Intern(operation.data(), operation.size()),
                                    std::memory_order_release);
  }
  pthread_mutex_unlock(&mutex_);
  return title;
}

void InstructionTexts::AddHandle(const void* handle, uint32_t title) {
  if (handle == nullptr || title == 0) return;
  pthread_mutex_lock(&mutex_);
  for (uint32_t probe = 0; probe < kProbes; ++probe) {
    Handle& slot = handles_[(SlotOf(handle) + probe) % kSlots];
    const void* const known = slot.handle.load(std::memory_order_relaxed);
    if (known != nullptr && known != handle) continue;
    slot.title.store(title, std::memory_order_relaxed);
    slot.handle.store(handle, std::memory_order_release);
    break;
  }
  pthread_mutex_unlock(&mutex_);
}

uint32_t InstructionTexts::Find(const void* handle) const {
  for (uint32_t probe = 0; probe < kProbes; ++probe) {
    const Handle& slot = handles_[(SlotOf(handle) + probe) % kSlots];
    const void* const known = slot.handle.load(std::memory_order_acquire);
    if (known == handle) return slot.title.load(std::memory_order_relaxed);
    if (known == nullptr) return 0;
  }
  return 0;
}

InstructionTexts::Texts InstructionTexts::TextsOf(uint32_t title) const {
  const Entry& entry = entries_[title];
  return {arena_ + entry.title, arena_ + entry.operation.load(std::memory_order_acquire),
          arena_ + entry.lines.load(std::memory_order_acquire)};
}

}  // namespace utlz::agent
