#include "collector/session/code_search.h"

#include <algorithm>
#include <map>
#include <utility>

#include "collector/clocks.h"
#include "collector/kernel_code/library_code.h"
#include "collector/kernel_code/packed_code.h"

namespace utlz {
void CodeSearch::Turn(uint64_t now_ns, const RunState& state,
                      const std::function<std::vector<pid_t>()>& processes, const Found& found) {
  if (looking_) {
    if (thread_.over()) HandOn(found);
    return;
  }
  if (next_ns_ == 0) next_ns_ = now_ns + kFirstPauseNs;
  if (now_ns < next_ns_) return;
  Names wanted = NewKernels(state);
  next_ns_ = now_ns + pause_ns_;
  if (wanted.empty()) return;
  pause_ns_ = std::min(2 * pause_ns_, kLongestPauseNs);
  Begin(std::move(wanted), processes());
}

void CodeSearch::Finish(const RunState& state, const Found& found) {
  if (looking_) HandOn(found);
  Names wanted = NewKernels(state);
  if (wanted.empty() || files_.empty()) return;
  Begin(std::move(wanted), {});
  HandOn(found);
}

CodeSearch::Names CodeSearch::NewKernels(const RunState& state) {
  Names wanted;
  const std::vector<Kernel>& kernels = state.kernels.kernels();
  for (; looked_at_ < kernels.size() && known_.size() < kMostKernels; ++looked_at_) {
    const Kernel& kernel = kernels[looked_at_];
    // Code in C++, as libraries have it. What a compiler made in the process is in no library.
    if (!kernel.mangled_name.starts_with("_Z")) continue;
    std::pair key(ComputeCapabilityOf(state.devices[kernel.device]), kernel.mangled_name);
    if (known_.insert(key).second) wanted.insert(std::move(key));
  }
  return wanted;
}

void CodeSearch::Begin(Names wanted, std::vector<pid_t> processes) {
  looking_ = true;
  thread_.Begin([this, wanted = std::move(wanted), processes = std::move(processes)] {
    Look(wanted, processes);
  });
}

void CodeSearch::Look(const Names& wanted, const std::vector<pid_t>& processes) {
  for (const pid_t process : processes) {
    for (UniqueFd& file : libraries_.OpenNew(process, HoldsKernelCode)) {
      files_.push_back({std::move(file)});
    }
  }
  std::map<uint32_t, KernelNames> missing;  // by compute capability
  for (const auto& [capability, name] : wanted) missing[capability].insert(name);
  const uint64_t begin_ns = ThreadCpuNs();
  for (Library& library : files_) {
    if (ThreadCpuNs() - begin_ns > kMostCpuNs) return;  // a file takes some seconds at most
    for (auto& [capability, names] : missing) {
      // A library is read even if no kernel is missing any more: later looks need its notes.
      const auto [kernels, is_new] =
          library.kernels.try_emplace(capability, library.file.get(), static_cast<int>(capability));
      // A library without code for GPUs, or one that is damaged, has nothing to say.
      kernels->second
          .Find(KernelNames(names),
                [&, of = capability, left = &names](const std::string& name, KernelCode code) {
                  left->erase(name);
                  Record(name, of, code);
                })
          .IgnoreError();
    }
  }
}

void CodeSearch::Record(const std::string& name, uint32_t capability, const KernelCode& code) {
  KernelCodeRecord record;
  record.set_mangled_name(name);
  record.set_compute_capability(capability);
  const std::vector<uint32_t> words = PackCode(code);
  record.mutable_words()->Add(words.begin(), words.end());
  records_.push_back(std::move(record));
}

void CodeSearch::HandOn(const Found& found) {
  thread_.Wait();
  looking_ = false;
  for (const KernelCodeRecord& record : std::exchange(records_, {})) found(record);
}

}  // namespace utlz
