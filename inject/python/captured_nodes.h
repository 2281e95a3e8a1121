// The stacks that nodes of CUDA graphs were captured from, by CUPTI's numbers of nodes. A graph is
// captured into nodes; what runs are clones of them that its instantiation makes. So a clone has
// the stack of the node that it was cloned from, and never that of its own making.
//
// Bounded: what has no room has no stack. Put functions: any threads, without a lock; a node is put
// by one thread at a time. All others: under the recorder's lock.
#ifndef UTLZ_INJECT_PYTHON_CAPTURED_NODES_H_
#define UTLZ_INJECT_PYTHON_CAPTURED_NODES_H_

#include <atomic>
#include <cstdint>

#include "inject/base/memory.h"

namespace utlz::agent {

class CapturedNodes {
 public:
  static constexpr uint32_t kMostNodes = 1u << 17;

  // Once, before all others. False where there is no memory.
  bool Create() {
    nodes_ = MapArray<Node>(kMostNodes);
    slots_ = MapArray<std::atomic<uint32_t>>(kSlots);
    return nodes_ != nullptr && slots_ != nullptr;
  }
  // For another reader, while no capture is watched.
  void Clear() {
    count_.store(0, std::memory_order_relaxed);
    full_.store(false, std::memory_order_relaxed);
    named_ = 0;
    ClearArray(slots_, kSlots);
    ClearArray(nodes_, kMostNodes);
  }

  // `node` was captured while its thread had the stack of this hash. Neither is 0.
  void PutCaptured(uint64_t node, uint64_t hash) {
    if (Find(node) != nullptr) return;  // a clone is announced as new too
    if (Node* const added = Reserve()) {
      added->hash = hash;
      Publish(added, node);
    }
  }
  // Only of originals that are known.
  void PutCloned(uint64_t node, uint64_t original) {
    if (node == original || Find(original) == nullptr) return;
    if (Node* const known = Find(node)) {
      known->original.store(original, std::memory_order_relaxed);
    } else if (Node* const added = Reserve()) {
      added->original.store(original, std::memory_order_relaxed);
      Publish(added, node);
    }
  }

  // Gives nodes that have come since their stacks: `number_of` is asked for that of a hash.
  template <typename NumberOf>
  void Name(NumberOf number_of) {
    const uint32_t count = Count();
    for (; named_ < count; ++named_) {
      Node& node = nodes_[named_];
      if (node.number.load(std::memory_order_acquire) == 0) return;  // being put there
      if (node.hash != 0) node.stack = number_of(node.hash);
    }
  }
  // The stack of a node that runs; 0: not known. `number_of` is asked where Name found none.
  template <typename NumberOf>
  uint32_t StackOf(uint64_t number, NumberOf number_of) const {
    const Node* node = Find(number);
    if (node == nullptr || node->original.load(std::memory_order_relaxed) == 0) return 0;
    for (int step = 0; step < kMostClonings; ++step) {
      const uint64_t original = node->original.load(std::memory_order_relaxed);
      if (original == 0) return node->stack != 0 ? node->stack : number_of(node->hash);
      node = Find(original);
      if (node == nullptr) return 0;
    }
    return 0;
  }

  bool empty() const { return Count() == 0; }
  bool full() const { return full_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kSlots = 2 * kMostNodes;
  static constexpr uint32_t kProbes = 64;
  static constexpr int kMostClonings = 8;  // of a clone of a clone

  struct Node {
    std::atomic<uint64_t> number;  // 0: not there yet
    std::atomic<uint64_t> original;
    uint64_t hash;
    uint32_t stack;
  };

  uint32_t Count() const {
    const uint32_t count = count_.load(std::memory_order_relaxed);
    return count < kMostNodes ? count : kMostNodes;
  }
  // CUPTI numbers the nodes of a graph one after another, below the graph's number: they lie side
  // by side, graphs far from each other.
  static uint32_t SlotOf(uint64_t number, uint32_t probe) {
    const uint64_t graph = (number >> 32) * 0x9E3779B97F4A7C15u >> 32;
    return static_cast<uint32_t>(graph + number + probe) % kSlots;
  }
  Node* Find(uint64_t number) const {
    for (uint32_t probe = 0; probe < kProbes; ++probe) {
      const uint32_t index = slots_[SlotOf(number, probe)].load(std::memory_order_acquire);
      if (index == 0) return nullptr;
      Node& node = nodes_[index - 1];
      if (node.number.load(std::memory_order_relaxed) == number) return &node;
    }
    return nullptr;
  }
  Node* Reserve() {
    const uint32_t index = count_.load(std::memory_order_relaxed) < kMostNodes
                               ? count_.fetch_add(1, std::memory_order_relaxed)
                               : kMostNodes;
    if (index < kMostNodes) return &nodes_[index];
    full_.store(true, std::memory_order_relaxed);
    return nullptr;
  }
  void Publish(Node* node, uint64_t number) {
    node->number.store(number, std::memory_order_release);
    const auto index = static_cast<uint32_t>(node - nodes_) + 1;
    for (uint32_t probe = 0; probe < kProbes; ++probe) {
      uint32_t free = 0;
      if (slots_[SlotOf(number, probe)].compare_exchange_strong(free, index,
                                                                std::memory_order_release)) {
        return;
      }
    }
    full_.store(true, std::memory_order_relaxed);
  }

  Node* nodes_ = nullptr;                   // in the order in which they came
  std::atomic<uint32_t>* slots_ = nullptr;  // by number: index + 1, 0 = free
  std::atomic<uint32_t> count_{0};
  std::atomic<bool> full_{false};
  uint32_t named_ = 0;
};

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_PYTHON_CAPTURED_NODES_H_
