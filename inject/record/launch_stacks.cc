#include "inject/record/launch_stacks.h"

#include "inject/base/memory.h"
#include "inject/xla/xla_ranges.h"
#include "proto/profile_fields.h"

namespace utlz::agent {

bool LaunchStacks::Create(const PythonLayout& layout, StringTable* strings) {
  if (is_ready_ || is_without_memory_) return is_ready_;
  strings_ = strings;
  numbers_ = MapArray<Number>(kNumbers);
  new_stack_ = MapArray<PythonStack>(1);
  is_ready_ = numbers_ != nullptr && new_stack_ != nullptr && frames_.Create(layout) &&
              backward_.Create() && instructions_.Create() && calls_.Create() && nodes_.Create() &&
              compiled_files_.Create() && resolver_.Create(layout, strings, &compiled_files_) &&
              tree_.Create() && encoder_.Create() && thread_stacks_.Create();
  is_without_memory_ = !is_ready_;
  return is_ready_;
}

void LaunchStacks::BeginWindow() {
  TakeNewStacks();
  frames_.ForgetStacks();
  resolver_.Forget();
  backward_.BeginWindow();
  if (instructions_.IsHalfFull()) instructions_.Clear();
}

uint64_t LaunchStacks::ReadStack() {
  const uint64_t outer = backward_.OnLaunch(frames_.Walk().hash);
  const InstructionStack inside{outer, CurrentInstruction()};
  if (inside.instruction == 0) return outer;
  const uint64_t hash = inside.Hash();
  return instructions_.Put(hash, inside) ? hash : outer;
}

void LaunchStacks::OnLaunch(uint32_t call) {
  calls_seen_.fetch_add(1, std::memory_order_relaxed);
  const uint64_t hash = ReadStack();
  if (hash == 0) {
    without_stack_.fetch_add(1, std::memory_order_relaxed);
  } else {
    calls_.Put(call, hash);
  }
}

void LaunchStacks::OnCapturedNode(uint64_t node) {
  const uint64_t hash = ReadStack();
  if (hash == 0) return;
  nodes_.PutCaptured(node, hash);
  captured_.fetch_add(1, std::memory_order_relaxed);
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
  *slot = {hash, stack, resolver_.generation()};
}

void LaunchStacks::TakeNewStacks() {
  const uint32_t generation = resolver_.generation();
  // Launching threads may put new ones there all the while.
  for (uint64_t i = 0; i < PythonFrames::kNewStacks && frames_.TakeNewStack(new_stack_); ++i) {
    SetNumber(new_stack_->hash, resolver_.Resolve(*new_stack_, &frames_, &tree_));
  }
  if (resolver_.generation() != generation) frames_.ForgetStacks();  // they are sent again
  lost_ += frames_.TakeLost();
  // While what the nodes were captured from still is where it was.
  nodes_.Name([this](uint64_t hash) { return NumberOfLaunch(hash); });
}

void LaunchStacks::SampleThreads(uint64_t time_ns) {
  for (uint32_t thread = 0; thread < PythonFrames::kLaunchers; ++thread) {
    if (thread_stacks_.Full()) return;
    if (!frames_.Sample(thread, new_stack_)) continue;
    const uint64_t hash = new_stack_->hash;
    if (!frames_.KnewSampled(thread, hash) || !IsCurrent(hash)) {
      SetNumber(hash, resolver_.Resolve(*new_stack_, &frames_, &tree_));
    }
    const uint32_t stack = NumberOfHash(hash);
    if (stack != 0) thread_stacks_.Add(time_ns, stack);
  }
}

bool LaunchStacks::IsCurrent(uint64_t hash) const {
  if (hash == 0) return true;
  const Number& number = *SlotOf(hash);
  return number.hash != 0 && number.generation == resolver_.generation();
}

uint32_t LaunchStacks::NumberOfNode(uint64_t node) {
  return nodes_.StackOf(node, [this](uint64_t hash) { return NumberOfLaunch(hash); });
}

uint32_t LaunchStacks::NumberOfLaunch(uint64_t hash) {
  if (hash == 0) return 0;
  if (IsCurrent(hash)) return SlotOf(hash)->stack;
  if (InstructionStack inside; instructions_.Get(hash, &inside)) {
    const uint32_t stack = NumberOfInstruction(inside);
    if (stack != 0 && IsCurrent(inside.outer)) SetNumber(hash, stack);
    return stack;
  }
  DerivedStack derived;
  if (!backward_.Get(hash, &derived)) return SlotOf(hash)->stack;
  const uint32_t stack = NumberOfDerived(derived);
  // Kept only where all that it is made of has its present path: the rest may come later.
  if (stack != 0 && IsCurrent(derived.own) && IsCurrent(derived.before) &&
      IsCurrent(derived.after) && IsCurrent(derived.previous)) {
    SetNumber(hash, stack);
  }
  return stack;
}

uint32_t LaunchStacks::NumberOfInstruction(const InstructionStack& stack) {
  const InstructionTexts::Texts texts = TextsOfInstruction(stack.instruction);
  TreeFrame frame;
  frame.parent = NumberOfLaunch(stack.outer);
  // Frames that are named later would lie outside of this one.
  if (stack.outer != 0 && frame.parent == 0) return 0;
  frame.name = strings_->Intern(texts.title);
  frame.file = strings_->Intern(texts.lines);
  frame.module_class = strings_->Intern(texts.operation);
  frame.kind = wire::kStackFrameXlaInstruction;
  return tree_.Find(frame);
}

uint32_t LaunchStacks::AddPass(uint32_t parent, uint32_t kind, bool inferred) {
  if (parent == 0) return 0;
  TreeFrame frame;
  frame.parent = parent;
  frame.name =
      strings_->Intern(kind == wire::kStackFrameBackward ? "(backward)" : "(recomputation)");
  frame.kind = kind;
  frame.flags = inferred ? wire::kStackFrameInferred : wire::kStackFramePlain;
  return tree_.Find(frame);
}

// All that a compiled model launches in a backward pass belongs to one node, whose forward is one
// launch in another file. So the line in its own generated file is added: operations are known by
// it.
uint32_t LaunchStacks::AddCompiledFrame(uint32_t stack, uint32_t own) {
  const uint32_t compiled = resolver_.CompiledFrameOf(own, tree_);
  if (stack == 0 || compiled == 0) return stack;
  TreeFrame frame = tree_.At(compiled);
  frame.parent = stack;
  const uint32_t number = tree_.Find(frame);
  return number != 0 ? number : stack;
}

uint32_t LaunchStacks::NumberOfForward(const DerivedStack& stack) {
  const uint32_t before = NumberOfHash(stack.before), after = NumberOfHash(stack.after);
  // With one of the two sides unknown, the other would name an owner that is too exact.
  if ((stack.before != 0 && before == 0) || (stack.after != 0 && after == 0)) return 0;
  if (stack.is_exact) {
    const uint32_t forward = AddCompiledFrame(before, NumberOfHash(stack.own));
    return AddPass(forward, wire::kStackFrameBackward, false);
  }
  const uint32_t around = before != 0 && after != 0 ? tree_.CommonOf(before, after) : 0;
  return AddPass(around, wire::kStackFrameBackward, true);
}

uint32_t LaunchStacks::NumberOfDerived(const DerivedStack& stack) {
  const uint32_t own = NumberOfHash(stack.own);
  if (own != 0 && resolver_.IsRecomputation(own, tree_)) {
    return AddPass(own, wire::kStackFrameRecomputation, false);
  }
  if (stack.previous != 0) {
    DerivedStack previous;
    // Looks back one node only: a node could otherwise come before itself.
    if (!backward_.Get(stack.previous, &previous) || previous.previous != 0) return 0;
    uint32_t number = NumberOfHash(stack.previous);
    if (number == 0) number = NumberOfDerived(previous);
    if (number == 0) return 0;
    const TreeFrame& pass = tree_.At(number);
    return AddPass(pass.kind == wire::kStackFrameBackward ? pass.parent : number,
                   wire::kStackFrameBackward, true);
  }
  const uint32_t forward = NumberOfForward(stack);
  return forward != 0 ? forward : AddPass(own, wire::kStackFrameBackward, false);
}

void LaunchStacks::Restart() {
  if (!is_ready_) return;
  TakeNewStacks();
  frames_.ForgetStacks();
  resolver_.Forget();
  backward_.Restart();
  instructions_.Clear();
  calls_.Clear();
  nodes_.Clear();
  compiled_files_.Clear();
  thread_stacks_.Clear();
  tree_.Clear();
  ClearArray(numbers_, kNumbers);
  number_count_ = 0;
  calls_seen_ = without_stack_ = captured_ = lost_ = 0;
}

LaunchStacks::Counts LaunchStacks::counts() const {
  return {calls_seen_.load(std::memory_order_relaxed),
          without_stack_.load(std::memory_order_relaxed),
          lost_,
          captured_.load(std::memory_order_relaxed),
          nodes_.full(),
          backward_.counts()};
}

}  // namespace utlz::agent
