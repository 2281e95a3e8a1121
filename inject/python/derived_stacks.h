// Stacks of a backward pass: its launches belong to the stacks of their forward.
#ifndef UTLZ_INJECT_PYTHON_DERIVED_STACKS_H_
#define UTLZ_INJECT_PYTHON_DERIVED_STACKS_H_

#include <cstdint>

#include "inject/base/stacks_by_hash.h"

namespace utlz::agent {

// Of a launch inside a node. Hashes of stacks, 0 = none.
struct DerivedStack {
  uint64_t own = 0;  // the thread's own frames
  // The node's forward; where it launched nothing, what was launched before and after it.
  uint64_t before = 0, after = 0;
  bool is_exact = false;  // the forward itself is known
  // Of a node that nothing was launched for: the one that this thread was in before.
  uint64_t previous = 0;

  bool operator==(const DerivedStack&) const = default;
  // Never 0.
  uint64_t Hash() const {
    uint64_t hash = is_exact ? 3 : 2;
    for (const uint64_t value : {own, before, after, previous}) {
      hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 29;
    }
    return hash != 0 ? hash : 1;
  }
};

using DerivedStacks = StacksByHash<DerivedStack>;

}  // namespace utlz::agent

#endif  // UTLZ_INJECT_PYTHON_DERIVED_STACKS_H_
