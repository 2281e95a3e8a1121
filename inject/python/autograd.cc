#include "inject/python/autograd.h"

#include <cstring>

namespace utlz::agent {
namespace {

constexpr uint64_t kLeastAddress = 1 << 16;
constexpr uint64_t kMostAddress = uint64_t{1} << 48;
// Of the block of counts that a std::shared_ptr points at: after its table of functions.
constexpr uint64_t kUseCount = 8;

uint64_t Word(const char* address) {
  uint64_t word;
  std::memcpy(&word, address, sizeof(word));
  return word;
}

bool CanBeNode(uint64_t address) {
  return address % 8 == 0 && address >= kLeastAddress && address < kMostAddress;
}

// The variable holds a reference of its own all the while: this one is never the last.
void GiveBack(const SharedNode& node) {
  if (node.control == 0) return;
  __atomic_fetch_sub(reinterpret_cast<int32_t*>(node.control + kUseCount), 1, __ATOMIC_ACQ_REL);
}

}  // namespace

NoBackward Autograd::Find() {
  if (is_refused_.load(std::memory_order_relaxed)) return NoBackward::kOtherLayout;
  if (is_found_.load(std::memory_order_relaxed)) return NoBackward::kNone;
  why_ = FindAutograd(&library_);
  is_found_.store(why_ == NoBackward::kNone, std::memory_order_release);
  return why_;
}

AutogradPlace Autograd::Read(bool runs_python) {
  if (!is_found_.load(std::memory_order_acquire) || is_refused_.load(std::memory_order_relaxed)) {
    return {};
  }
  const char* const block = ThreadLocalBlock(library_);
  if (block == nullptr) return {};
  const uint64_t node = NodeOf(block, runs_python);
  if (is_refused_.load(std::memory_order_relaxed)) return {};  // this launch found out why
  AutogradPlace place;
  if (node != 0) {
    const auto* const bytes = reinterpret_cast<const char*>(node);
    place.is_in_node = true;
    place.evaluated = {Word(bytes + kNodeThread), Word(bytes + kNodeNumber)};
  }
  if (node == 0 || runs_python) place.made = NewestMade();
  return place;
}

AutogradNode Autograd::NewestMade() const {
  const uint64_t next = library_.next_number();
  // A thread that has made a node has its number from then on; others are not to be given one.
  return next == 0 ? AutogradNode{} : AutogradNode{library_.thread_number(), next - 1};
}

uint64_t Autograd::NodeOf(const char* block, bool runs_python) {
  if (confirmations_.load(std::memory_order_acquire) < kConfirmations) {
    return runs_python ? 0 : AskForNode(block);
  }
  const uint64_t node = Word(block + offset_.load(std::memory_order_relaxed));
  return node == 0 || CanBeNode(node) ? node : 0;
}

uint64_t Autograd::AskForNode(const char* block) {
  const SharedNode current = library_.current_node();
  const uint64_t node = current.node;
  if (node != 0 && last_node_.exchange(node, std::memory_order_relaxed) != node) {
    Learn(block, current);
  }
  GiveBack(current);
  return CanBeNode(node) ? node : 0;
}

void Autograd::Learn(const char* block, const SharedNode& node) {
  uint64_t found = kUnknown;
  for (uint64_t at = 0; at + 16 <= library_.tls_bytes; at += 8) {
    if (Word(block + at) != node.node || Word(block + at + 8) != node.control) continue;
    if (found != kUnknown) return is_refused_.store(true, std::memory_order_relaxed);
    found = at;
  }
  uint64_t known = kUnknown;
  const bool is_first = offset_.compare_exchange_strong(known, found, std::memory_order_relaxed);
  if (found == kUnknown || (!is_first && known != found)) {
    return is_refused_.store(true, std::memory_order_relaxed);
  }
  confirmations_.fetch_add(1, std::memory_order_release);
}

}  // namespace utlz::agent
