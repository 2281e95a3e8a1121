#include "inject/python/python_frames.h"

#include "inject/base/memory.h"
#include "inject/python/frame_memory.h"

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

class StackHash {
 public:
  void Add(const PythonFrame& frame) {
    mixed_ = Mix(Mix(mixed_, frame.code), frame.instruction);
    if (frame.module != 0) mixed_ = Mix(mixed_, frame.module);
    is_empty_ = false;
  }
  // 0 where there was no frame, and else never.
  uint64_t value() const { return is_empty_ ? 0 : mixed_ != 0 ? mixed_ : 1; }

 private:
  uint64_t mixed_ = 1;
  bool is_empty_ = true;
};

// False where there was no room for the frame.
bool Append(const PythonFrame& frame, PythonStack* stack) {
  stack->is_cut = stack->frame_count == kMostPythonFrames;
  if (!stack->is_cut) stack->frames[stack->frame_count++] = frame;
  return !stack->is_cut;
}

// Which cache, and which launcher, a thread's is.
uint32_t CacheOf(uint64_t thread) {
  return static_cast<uint32_t>(Mix(0, thread) >> 40) % PythonFrames::kCaches;
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
  const NoStack why = FindInnermost<OwnFrame>(thread, &frame);
  if (why != NoStack::kNone) return {0, why};
  uint64_t hash = 0;
  if (!HashFrames(frame, &hash)) return {0, NoStack::kOddFrames};
  if (hash == 0) return {0, NoStack::kNoFrames};
  const uint32_t index = CacheOf(thread);
  if (launchers_[index].load(std::memory_order_relaxed) != thread) {
    launchers_[index].store(thread, std::memory_order_relaxed);
  }
  CacheEntry* const cache = caches_ + index * kCacheEntries;
  if (!Knows(cache, hash) && Report(frame, hash)) Remember(cache, hash);
  return {hash, NoStack::kNone};
}

// What a thread does in between may have changed some frames and not others. So a stack counts
// where the same frames stand at the same places, in the same calls, when it is read once more.
bool PythonFrames::Sample(uint32_t launcher, PythonStack* stack) const {
  const uint64_t thread = launchers_[launcher].load(std::memory_order_relaxed);
  if (thread == 0) return false;
  uint64_t chain = 0, chain_again = 0;
  PythonStack again;
  return CopyStack(thread, stack, &chain) && CopyStack(thread, &again, &chain_again) &&
         chain == chain_again && stack->hash != 0;
}

// `chain` tells of all but the instruction of the innermost frame, which changes all the while.
bool PythonFrames::CopyStack(uint64_t thread, PythonStack* stack, uint64_t* chain) const {
  uint64_t innermost = 0;
  stack->frame_count = 0;
  stack->is_cut = false;
  if (FindInnermost<CopiedFrame>(thread, &innermost) != NoStack::kNone) return false;
  StackHash hash;
  *chain = 0;
  const bool is_plausible =
      VisitFrames<CopiedFrame>(innermost, [&](uint64_t address, const PythonFrame& read) {
        const uint64_t call = stack->frame_count == 0 ? 0 : read.instruction;
        *chain = Mix(Mix(Mix(*chain, address), read.code), call);
        if (!Append(read, stack)) return false;
        hash.Add(read);
        return true;
      });
  stack->hash = hash.value();
  return is_plausible;
}

template <typename Memory>
NoStack PythonFrames::FindInnermost(uint64_t thread, uint64_t* frame) const {
  if (thread == 0) return NoStack::kNoThreadState;
  const uint64_t runtime = layout_.runtime;
  if (SharedWord(runtime + layout_.runtime_ending) != 0) return NoStack::kEnding;
  // New interpreters come in front of the first one.
  const uint64_t newest = SharedWord(runtime + layout_.runtime_interpreters);
  const uint64_t first = SharedWord(runtime + layout_.runtime_interpreters + 8);
  uint64_t interpreter = 0;
  if (!CanBeObject(thread) || !Memory::Read(thread + layout_.thread_interpreter, &interpreter)) {
    return NoStack::kOddFrames;
  }
  if (newest != first || interpreter != first) return NoStack::kSubInterpreter;
  if (!Memory::Read(thread + layout_.thread_frame, frame)) return NoStack::kOddFrames;
  if (layout_.has_cframe && *frame != 0) {
    if (!CanBeObject(*frame) || !Memory::Read(*frame + layout_.cframe_frame, frame)) {
      return NoStack::kOddFrames;
    }
  }
  return *frame == 0 ? NoStack::kNoFrames : NoStack::kNone;
}

template <typename Memory, typename Take>
bool PythonFrames::VisitFrames(uint64_t frame, Take take) const {
  Memory memory(layout_);
  for (uint32_t step = 0; frame != 0 && step < kMostSteps; ++step) {
    if (!CanBeObject(frame) || !memory.MoveTo(frame)) return false;
    const uint8_t owner = memory.Byte(layout_.frame_owner);
    if (owner > kLastOwner) return false;
    if (owner < kFirstOwnerWithoutCode) {
      PythonFrame read;
      read.code = memory.Word(layout_.frame_code);
      if (layout_.has_tags) read.code &= ~kTagMask;
      if (!CanBeObject(read.code)) return false;
      read.instruction = memory.Word(layout_.frame_instruction);
      read.module = IsModuleCode(read.code) ? ModuleOf(memory) : 0;
      if (!take(frame, read)) return true;
    }
    frame = memory.Word(layout_.frame_previous);
  }
  return true;
}

template <typename Memory>
uint64_t PythonFrames::ModuleOf(const Memory& memory) const {
  uint64_t local = memory.Word(layout_.frame_locals);
  if (layout_.has_tags) {
    if ((local & kTagMask) == kIntegerTag) return 0;
    local &= ~kTagMask;
  }
  uint64_t type = 0, content = 0;
  if (!CanBeObject(local) || !Memory::Read(local + kObjectType, &type)) return 0;
  if (type != layout_.cell_type) return local;
  return Memory::Read(local + kCellContent, &content) && CanBeObject(content) ? content : 0;
}

bool PythonFrames::IsModuleCode(uint64_t code) const {
  for (const std::atomic<uint64_t>& known : module_codes_) {
    const uint64_t module_code = known.load(std::memory_order_relaxed);
    if (module_code == 0) return false;
    if (module_code == code) return true;
  }
  return false;
}

bool PythonFrames::HashFrames(uint64_t frame, uint64_t* hash) const {
  StackHash mixed;
  uint32_t count = 0;
  const bool is_plausible = VisitFrames<OwnFrame>(frame, [&](uint64_t, const PythonFrame& read) {
    mixed.Add(read);
    return ++count < kMostPythonFrames;
  });
  *hash = mixed.value();
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
  VisitFrames<OwnFrame>(
      frame, [&stack](uint64_t, const PythonFrame& read) { return Append(read, &stack); });
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

bool PythonFrames::KnewSampled(uint32_t launcher, uint64_t hash) {
  CacheEntry* const cache = caches_ + launcher * kCacheEntries;
  if (Knows(cache, hash)) return true;
  Remember(cache, hash);
  return false;
}

void PythonFrames::ForgetStacks() { ClearArray(caches_, kCaches * kCacheEntries); }

}  // namespace utlz::agent
