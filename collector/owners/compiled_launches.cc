#include "collector/owners/compiled_launches.h"

#include <algorithm>

#include "collector/kernel_names/fused_operations.h"
#include "collector/kernel_names/kernel_family.h"

namespace utlz {

void CompiledLaunches::ReadSites() {
  has_sites_ = true;
  std::map<uint32_t, const StackFrame*> frames;  // of stacks
  state_.stack_work.ForEachSite([&](uint32_t kernel, uint32_t stack, const StackWork::Sums& sums) {
    const auto [known, is_new] = frames.try_emplace(stack, nullptr);
    // Variants that a compiler tried are launched there too.
    if (is_new && owners_.LayerOf(stack).kind != "autotuning") {
      known->second = owners_.CompiledFrameOf(stack);
    }
    const StackFrame* frame = known->second;
    if (frame == nullptr || frame->line == 0) return;
    const auto file = sites_.find(frame->file);
    if (file != sites_.end()) {
      file->second[frame->line][kernel] += sums.time_ns;
    } else if (sites_.size() < kMostFiles && !HasOperations(frame->file)) {
      sites_[frame->file][frame->line][kernel] = sums.time_ns;
    }
  });
}

// Of the kernel with most time there.
std::string CompiledLaunches::NameOf(const Kernels& kernels) const {
  const auto most =
      std::max_element(kernels.begin(), kernels.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const Kernel& kernel = state_.kernels[most->first];
  std::string operations = FusedOperationsText(kernel.mangled_name);
  if (!operations.empty()) return operations;
  return utlz::NameOf(kernel.communication ? KernelFamily::kCommunication
                                           : FamilyOf(kernel.mangled_name));
}

std::vector<CompiledLaunch> CompiledLaunches::Of(const std::string& file) {
  std::vector<CompiledLaunch> launches;
  if (HasOperations(file)) {
    for (const CompiledOperations::Launch& launch : *state_.compiled_operations.LaunchesOf(file)) {
      launches.push_back(
          {launch.line, launch.end, launch.text, state_.compiled_operations.TextOf(launch)});
    }
    return launches;
  }
  if (!has_sites_) ReadSites();
  const auto recorded = sites_.find(file);
  if (recorded == sites_.end()) return launches;
  std::map<std::vector<uint32_t>, uint32_t> labels;
  for (const auto& [line, kernels] : recorded->second) {
    std::vector<uint32_t> key;
    for (const auto& kernel : kernels) key.push_back(kernel.first);
    const auto label =
        labels.try_emplace(std::move(key), static_cast<uint32_t>(labels.size())).first->second;
    launches.push_back({line, line + 1, label, *names_.insert(NameOf(kernels)).first});
  }
  return launches;
}

}  // namespace utlz
