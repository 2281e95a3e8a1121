#include "tools/utlz/load_summaries.h"

#include <cstdio>
#include <utility>

#include "tools/replay/replay.h"

namespace utlz {

void AddRecomputeOption(CLI::App* command, bool* recompute) {
  command->add_flag("--recompute", *recompute,
                    "From the recorded frames, not from the summary that the run left");
}

std::optional<std::vector<Summary>> LoadSummaries(const std::vector<std::string>& files,
                                                  bool recompute) {
  std::vector<Summary> summaries;
  bool whole = true;
  for (const std::string& file : files) {
    absl::StatusOr<Summary> summary = recompute ? ReplayProfile(file) : LoadSummary(file);
    if (summary.ok()) {
      summaries.push_back(*std::move(summary));
    } else {
      std::fprintf(stderr, "utlz: %s\n", std::string(summary.status().message()).c_str());
      whole = false;
    }
  }
  if (!whole) return std::nullopt;
  return summaries;
}

bool PrintOut(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (std::fflush(stdout) == 0 && written) return true;
  std::fprintf(stderr, "utlz: cannot write to standard output\n");
  return false;
}

}  // namespace utlz
