#include "inject/record/launch_stacks.h"

#include "inject/base/memory.h"

namespace utlz::agent {

bool LaunchStacks::Create(const PythonLayout& layout, StringTable* strings) {
  if (is_ready_ || is_without_memory_) return is_ready_;
  numbers_ = MapArray<Number>(kNumbers);
  new_stack_ = MapArray<PythonStack>(1);
  is_ready_ = numbers_ != nullptr && new_stack_ != nullptr && frames_.Create(layout) &&
              calls_.Create() && resolver_.Create(layout, strings) && tree_.Create() &&
              encoder_.Create();
  is_without_memory_ = !is_ready_;
  return is_ready_;
}

void LaunchStacks::BeginWindow() {
  TakeNewStacks();
  frames_.ForgetStacks();
  resolver_.Forget();
}

void LaunchStacks::OnLaunch(uint32_t call) {
  calls_seen_.fetch_add(1, std::memory_order_relaxed);
  const PythonWalk walk = frames_.Walk();
  if (walk.hash == 0) {
    without_stack_.fetch_add(1, std::memory_order_relaxed);
  } else {
    calls_.Put(call, walk.hash);
  }
}

LaunchStacks::Number* LaunchStacks::SlotOf(uint64_t hash) const {
  auto slot = static_cast<uint32_t>(hash >> 40) % kNumbers;
  while (numbers_[slot].hash != 0 && numbers_[slot].hash != hash) slot = (slot + 1) % kNumbers;
  return &numbers_[slot];
}

void LaunchStacks::SetNumber(uint64_t hash, uint32_t stack) {
  if (number_count_ == kMostNumbers) {
    ClearArray(numbers_, kNumbers);
    number_count_ = 0;
    frames_.ForgetStacks();  // so that stacks seen from now on are sent again
  }
  Number* const slot = SlotOf(hash);
  if (slot->hash == 0) ++number_count_;
  *slot = {hash, stack};
}

void LaunchStacks::TakeNewStacks() {
  // Launching threads may put new ones there all the while.
  for (uint64_t i = 0; i < PythonFrames::kNewStacks && frames_.TakeNewStack(new_stack_); ++i) {
    SetNumber(new_stack_->hash, resolver_.Resolve(*new_stack_, &frames_, &tree_));
  }
  lost_ += frames_.TakeLost();
}

uint32_t LaunchStacks::NumberOf(uint32_t call) const {
  const uint64_t hash = calls_.Get(call);
  return hash == 0 ? 0 : SlotOf(hash)->stack;
}

void LaunchStacks::Restart() {
  if (!is_ready_) return;
  TakeNewStacks();
  frames_.ForgetStacks();
  resolver_.Forget();
  calls_.Clear();
  tree_.Clear();
  ClearArray(numbers_, kNumbers);
  number_count_ = 0;
  calls_seen_ = without_stack_ = lost_ = 0;
}

LaunchStacks::Counts LaunchStacks::counts() const {
  return {calls_seen_.load(std::memory_order_relaxed),
          without_stack_.load(std::memory_order_relaxed), lost_};
}

}  // namespace utlz::agent
