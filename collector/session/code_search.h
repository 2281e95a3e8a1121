// Looks for the machine code of a run's kernels in the libraries that its processes have mapped, on
// a thread of its own: docs/decisions/0060-kernel-code-from-mapped-libraries.md.
//
// The first look reads the libraries whole, which takes a second or two for PyTorch's, and notes
// which kernels they have. Later ones read what kernels need that no look was for before, and
// libraries that are new. Looks are few: the pause before the next one doubles. The last is at the
// end of the run, for what was opened while its processes lived.
//
// Thread safety: none.
#ifndef UTLZ_COLLECTOR_SESSION_CODE_SEARCH_H_
#define UTLZ_COLLECTOR_SESSION_CODE_SEARCH_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collector/kernel_code/library_code.h"
#include "collector/run/run_state.h"
#include "collector/session/background_study.h"
#include "collector/session/mapped_libraries.h"
#include "collector/unique_fd.h"
#include "proto/profile.pb.h"

namespace utlz {

class CodeSearch {
 public:
  static constexpr uint64_t kFirstPauseNs = 2'000'000'000;
  static constexpr uint64_t kLongestPauseNs = 256'000'000'000;
  static constexpr uint64_t kMostCpuNs = 10'000'000'000;  // of a look, before its last file
  static constexpr size_t kMostKernels = 4096;            // whose code is looked for, of a run

  using Found = std::function<void(const KernelCodeRecord& record)>;

  // Hands on what a look that is over has found, and begins another where one is due. `state` is
  // read here and now, `processes` are asked for only where a look begins.
  void Turn(uint64_t now_ns, const RunState& state,
            const std::function<std::vector<pid_t>()>& processes, const Found& found);
  // The last look. Waits for it.
  void Finish(const RunState& state, const Found& found);

  // Processor time of all looks.
  uint64_t cpu_ns() const { return thread_.cpu_ns(); }

 private:
  struct Library {
    UniqueFd file;
    std::map<uint32_t, LibraryKernels> kernels = {};  // by compute capability
  };
  using Names = std::set<std::pair<uint32_t, std::string>>;  // compute capability and function

  Names NewKernels(const RunState& state);
  void Begin(Names wanted, std::vector<pid_t> processes);
  void Look(const Names& wanted, const std::vector<pid_t>& processes);
  void Record(const std::string& name, uint32_t capability, const KernelCode& code);
  void HandOn(const Found& found);

  Names known_;           // that some look was for
  size_t looked_at_ = 0;  // of the run's kernels
  uint64_t next_ns_ = 0;
  uint64_t pause_ns_ = kFirstPauseNs;
  bool looking_ = false;
  // The thread's, while it is looking.
  MappedLibraries libraries_;
  std::vector<Library> files_;
  std::vector<KernelCodeRecord> records_;
  BackgroundStudy thread_;  // ends before what it writes to
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_CODE_SEARCH_H_
