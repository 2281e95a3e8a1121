#include "inject/python/backward_stacks.h"

#include <pthread.h>

namespace utlz::agent {
namespace {

uint64_t KeyOfThread() { return static_cast<uint64_t>(pthread_self()) * 0x9E3779B97F4A7C15u | 1; }

}  // namespace

bool BackwardStacks::Create() {
  last_ = MapArray<Last>(kThreads);
  return last_ != nullptr && forward_.Create() && period_.Create() && derived_.Create();
}

void BackwardStacks::BeginWindow() {
  ClearArray(last_, kThreads);
  period_.BeginWindow();
  if (derived_.IsHalfFull()) derived_.Clear();
}

void BackwardStacks::Restart() {
  ClearArray(last_, kThreads);
  forward_.Clear();
  period_.Clear();
  derived_.Clear();
  calls_ = without_ = 0;
}

BackwardStacks::Last& BackwardStacks::LastOfThread() const {
  return last_[(KeyOfThread() >> 40) % kThreads];
}

DerivedStack BackwardStacks::StackOfNode(uint64_t own, const AutogradNode& node) const {
  DerivedStack stack;
  stack.own = own;
  if (node.number == kAccumulateNumber) {
    const Last& last = LastOfThread();
    const uint64_t check = last.check.load(std::memory_order_acquire);
    const uint64_t hash = last.hash.load(std::memory_order_relaxed);
    if ((hash ^ check) == KeyOfThread()) stack.previous = hash;
    return stack;
  }
  if (!FindForward(node, &stack)) FindInEarlierSteps(node, &stack);
  return stack;
}

bool BackwardStacks::FindExactly(const AutogradNode& node, DerivedStack* stack) const {
  stack->before = forward_.Get(node.thread, node.number);
  stack->after = 0;
  stack->is_exact = stack->before != 0;
  return stack->is_exact;
}

bool BackwardStacks::FindForward(const AutogradNode& node, DerivedStack* stack) const {
  if (FindExactly(node, stack)) return true;
  uint64_t before = 0, after = 0;
  for (uint64_t i = 1; i <= kMostDistance && before == 0 && i <= node.number; ++i) {
    before = forward_.Get(node.thread, node.number - i);
  }
  for (uint64_t i = 1; i <= kMostDistance && after == 0; ++i) {
    after = forward_.Get(node.thread, node.number + i);
  }
  // With launches on one side alone, this node may have launched while no window was open. Then the
  // other side has nothing to do with it.
  if (before == 0 || after == 0) return false;
  stack->before = before;
  stack->after = after;
  return true;
}

bool BackwardStacks::FindInEarlierSteps(const AutogradNode& node, DerivedStack* stack) const {
  const uint64_t period = period_.Get();
  if (period == 0) return false;
  AutogradNode earlier = node;
  for (uint64_t i = 0; i < kMostSteps && earlier.number >= period; ++i) {
    earlier.number -= period;
    const bool found =
        i < kMostStepsAround ? FindForward(earlier, stack) : FindExactly(earlier, stack);
    if (!found) continue;
    // The earlier step's stack stands for this one's, so it is marked inferred. A stack between two
    // equal ones is that stack.
    if (stack->is_exact) stack->after = stack->before;
    stack->is_exact = false;
    return true;
  }
  return false;
}

uint64_t BackwardStacks::OnLaunch(uint64_t own, const AutogradPlace& place) {
  // Inside a node too: what is computed again there makes nodes, which are evaluated next.
  if (own != 0 && place.made.thread != 0 &&
      forward_.Put(place.made.thread, place.made.number, own)) {
    period_.Add(place.made.thread, place.made.number, own);
  }
  if (!place.is_in_node) return own;
  calls_.fetch_add(1, std::memory_order_relaxed);
  const DerivedStack stack = StackOfNode(own, place.evaluated);
  const bool has_forward = stack.before != 0 || stack.previous != 0;
  if (!has_forward) without_.fetch_add(1, std::memory_order_relaxed);
  const bool is_known = (has_forward || own != 0) && derived_.Put(stack.Hash(), stack);
  const uint64_t hash = is_known ? stack.Hash() : 0;
  if (place.evaluated.number != kAccumulateNumber) {
    Last& last = LastOfThread();
    last.hash.store(hash, std::memory_order_relaxed);
    last.check.store(hash ^ KeyOfThread(), std::memory_order_release);
  }
  return is_known ? hash : own;
}

BackwardStacks::Counts BackwardStacks::counts() const {
  return {calls_.load(std::memory_order_relaxed), without_.load(std::memory_order_relaxed)};
}

}  // namespace utlz::agent
