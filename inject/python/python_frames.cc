#include "inject/python/python_frames.h"

#include <cstring>

#include "inject/base/memory.h"

namespace utlz::agent {
namespace {

constexpr uint32_t kProbes = 16;
constexpr uint32_t kMostAttempts = 8;
// Frames without Python code stand between those that have some.
constexpr uint32_t kMostSteps = 4 * kMostPythonFrames;
// Who owns a frame, from this on: one that the interpreter put there for itself.
constexpr uint8_t kFirstOwnerWithoutCode = 3;
constexpr uint8_t kLastOwner = 4;
constexpr uint64_t kObjectType = 8;
constexpr uint64_t kCellContent = 16;
constexpr uint64_t kTagMask = 3;
constexpr uint64_t kIntegerTag = 3;
constexpr uint64_t kLeastAddress = 1 << 16;
constexpr uint64_t kMostAddress = uint64_t{1} << 48;

// Of memory that the calling thread keeps as it is.
uint64_t Word(uint64_t address) {
  uint64_t word;
  std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof(word));
  return word;
}

// Of memory that other threads write.
uint64_t SharedWord(uint64_t address) {
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(address), __ATOMIC_RELAXED);
}

bool CanBeObject(uint64_t address) {
  return address % 8 == 0 && address >= kLeastAddress && address < kMostAddress;
}

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 29;
}

// Where a stack is looked for. Its steps are its own, so that stacks do not pile up side by side.
uint32_t EntryOf(uint64_t hash, uint32_t probe) {
  return ((hash >> 40) + probe * (hash >> 52 | 1)) % PythonFrames::kCacheEntries;
}

}  // namespace

bool PythonFrames::Create(const PythonLayout& layout) {
  layout_ = layout;
  caches_ = MapArray<CacheEntry>(kCaches * kCacheEntries);
  new_stacks_ = MapArray<NewStack>(kNewStacks);
  return caches_ != nullptr && new_stacks_ != nullptr;
}

PythonWalk PythonFrames::Walk() {
  const auto thread = reinterpret_cast<uint64_t>(layout_.this_thread());
  uint64_t frame = 0;
  const NoStack why = FindInnermost(thread, &frame);
  if (why != NoStack::kNone) return {0, why};
  uint64_t hash = 0;
  if (!HashFrames(frame, &hash)) return {0, NoStack::kOddFrames};
  if (hash == 0) return {0, NoStack::kNoFrames};
  CacheEntry* const cache = caches_ + (Mix(0, thread) >> 40) % kCaches * kCacheEntries;
  if (!Knows(cache, hash) && Report(frame, hash)) Remember(cache, hash);
  return {hash, NoStack::kNone};
}

NoStack PythonFrames::FindInnermost(uint64_t thread, uint64_t* frame) const {
  if (thread == 0) return NoStack::kNoThreadState;
  const uint64_t runtime = layout_.runtime;
  if (SharedWord(runtime + layout_.runtime_ending) != 0) return NoStack::kEnding;
  // New interpreters come in front of the first one.
  const uint64_t newest = SharedWord(runtime + layout_.runtime_interpreters);
  const uint64_t first = SharedWord(runtime + layout_.runtime_interpreters + 8);
  if (!CanBeObject(thread)) return NoStack::kOddFrames;
  if (newest != first || Word(thread + layout_.thread_interpreter) != first) {
    return NoStack::kSubInterpreter;
  }
  *frame = Word(thread + layout_.thread_frame);
  if (layout_.has_cframe && *frame != 0) {
    if (!CanBeObject(*frame)) return NoStack::kOddFrames;
    *frame = Word(*frame + layout_.cframe_frame);
  }
  return *frame == 0 ? NoStack::kNoFrames : NoStack::kNone;
}

template <typename Take>
bool PythonFrames::VisitFrames(uint64_t frame, Take take) const {
  for (uint32_t step = 0; frame != 0 && step < kMostSteps; ++step) {
    if (!CanBeObject(frame)) return false;
    const uint8_t owner = *reinterpret_cast<const uint8_t*>(frame + layout_.frame_owner);
    if (owner > kLastOwner) return false;
    const uint64_t previous = Word(frame + layout_.frame_previous);
    if (owner < kFirstOwnerWithoutCode) {
      PythonFrame read;
      read.code = Word(frame + layout_.frame_code);
      if (layout_.has_tags) read.code &= ~kTagMask;
      if (!CanBeObject(read.code)) return false;
      read.instruction = Word(frame + layout_.frame_instruction);
      read.module = IsModuleCode(read.code) ? ModuleOf(frame) : 0;
      if (!take(read)) return true;
    }
    frame = previous;
  }
  return true;
}

bool PythonFrames::IsModuleCode(uint64_t code) const {
  for (const std::atomic<uint64_t>& known : module_codes_) {
    const uint64_t module_code = known.load(std::memory_order_relaxed);
    if (module_code == 0) return false;
    if (module_code == code) return true;
  }
  return false;
}

uint64_t PythonFrames::ModuleOf(uint64_t frame) const {
  uint64_t local = Word(frame + layout_.frame_locals);
  if (layout_.has_tags) {
    if ((local & kTagMask) == kIntegerTag) return 0;
    local &= ~kTagMask;
  }
  if (!CanBeObject(local)) return 0;
  if (Word(local + kObjectType) != layout_.cell_type) return local;
  const uint64_t content = Word(local + kCellContent);
  return CanBeObject(content) ? content : 0;
}

bool PythonFrames::HashFrames(uint64_t frame, uint64_t* hash) const {
  uint64_t mixed = 1;
  uint32_t count = 0;
  const bool is_plausible = VisitFrames(frame, [&](const PythonFrame& read) {
    mixed = Mix(Mix(mixed, read.code), read.instruction);
    if (read.module != 0) mixed = Mix(mixed, read.module);
    return ++count < kMostPythonFrames;
  });
  *hash = count == 0 ? 0 : mixed != 0 ? mixed : 1;
  return is_plausible;
}

bool PythonFrames::Knows(CacheEntry* cache, uint64_t hash) const {
  for (uint32_t probe = 0; probe < kProbes; ++probe) {
    const uint64_t known = cache[EntryOf(hash, probe)].load(std::memory_order_relaxed);
    if (known == hash) return true;
    if (known == 0) return false;
  }
  return false;
}

void PythonFrames::Remember(CacheEntry* cache, uint64_t hash) {
  uint32_t probe = 0;
  while (probe < kProbes && cache[EntryOf(hash, probe)].load(std::memory_order_relaxed) != 0) {
    ++probe;
  }
  cache[EntryOf(hash, probe % kProbes)].store(hash, std::memory_order_relaxed);
}

// Null where none is free, or where other threads were faster each time.
PythonFrames::NewStack* PythonFrames::ClaimSlot(uint64_t* filled) {
  uint64_t position = tail_.load(std::memory_order_relaxed);
  for (uint32_t attempt = 0; attempt < kMostAttempts; ++attempt) {
    NewStack& slot = new_stacks_[position % kNewStacks];
    const uint64_t turn = slot.turn.load(std::memory_order_acquire);
    const uint64_t free = 2 * (position / kNewStacks);
    if (turn < free) return nullptr;
    if (turn > free) {
      position = tail_.load(std::memory_order_relaxed);
    } else if (tail_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed)) {
      *filled = free + 1;
      return &slot;
    }
  }
  return nullptr;
}

bool PythonFrames::Report(uint64_t frame, uint64_t hash) {
  uint64_t filled = 0;
  NewStack* const slot = ClaimSlot(&filled);
  if (slot == nullptr) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  PythonStack& stack = slot->stack;
  stack.hash = hash;
  stack.frame_count = 0;
  stack.is_cut = false;
  VisitFrames(frame, [&stack](const PythonFrame& read) {
    if (stack.frame_count == kMostPythonFrames) {
      stack.is_cut = true;
      return false;
    }
    stack.frames[stack.frame_count++] = read;
    return true;
  });
  slot->turn.store(filled, std::memory_order_release);
  return true;
}

bool PythonFrames::AddModuleCode(uint64_t code) {
  for (std::atomic<uint64_t>& known : module_codes_) {
    uint64_t expected = 0;
    if (known.compare_exchange_strong(expected, code, std::memory_order_relaxed)) return true;
    if (expected == code) return true;
  }
  return false;
}

bool PythonFrames::TakeNewStack(PythonStack* stack) {
  NewStack& slot = new_stacks_[head_ % kNewStacks];
  const uint64_t filled = 2 * (head_ / kNewStacks) + 1;
  if (slot.turn.load(std::memory_order_acquire) != filled) return false;
  *stack = slot.stack;
  slot.turn.store(filled + 1, std::memory_order_release);
  ++head_;
  return true;
}

void PythonFrames::ForgetStacks() { ClearArray(caches_, kCaches * kCacheEntries); }

}  // namespace utlz::agent
