#include "collector/owners/idle_frames.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "collector/owners/stack_owners.h"
#include "proto/valid_string.h"

namespace utlz {
namespace {

bool IsInstalled(const std::string& file) {
  return IsFramework(file) || file.find("/site-packages/") != std::string::npos ||
         file.find("/dist-packages/") != std::string::npos;
}

// "data.py:41 Pictures.__getitem__ (Image.py:2193 Image.resize)": the innermost line of the
// program's own, and the innermost one of all where that is another.
std::string NameOf(const StackTable& stacks, uint32_t stack) {
  const StackFrame *innermost = nullptr, *own = nullptr;
  for (; stack != kNoStack && own == nullptr; stack = stacks.ParentOf(stack)) {
    const StackFrame& frame = stacks.FrameOf(stack);
    if (frame.kind != STACK_FRAME_FUNCTION) continue;
    if (innermost == nullptr) innermost = &frame;
    if (!IsInstalled(frame.file)) own = &frame;
  }
  if (innermost == nullptr) return "(no line)";
  if (own == nullptr || own == innermost) return LineName(*innermost);
  return LineName(*own) + " (" + LineName(*innermost) + ")";
}

}  // namespace

void IdleFrames::Fill(const StackTable& stacks, const ByStack& by_stack, OwnerSummary* owner) {
  std::map<std::string, double> by_name;
  double sampled_ns = 0;
  for (const auto& [stack, idle_ns] : by_stack) {
    by_name[NameOf(stacks, stack)] += idle_ns;
    sampled_ns += idle_ns;
  }
  owner->set_sampled_idle_ns(sampled_ns);
  std::vector<std::pair<std::string, double>> most(by_name.begin(), by_name.end());
  std::stable_sort(most.begin(), most.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [name, idle_ns] : most) {
    if (owner->idle_frames_size() == kMostFrames) return;
    owner->add_idle_frames(ValidText(name));
    owner->add_idle_frame_ns(idle_ns);
  }
}

}  // namespace utlz
