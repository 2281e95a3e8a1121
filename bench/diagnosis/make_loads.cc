// Writes profiles of loads whose cause of lost time is known: make_loads OUT_FOLDER PROFILE...
//
// Each cause is planted into a healthy load at half, once and twice its threshold; the healthy
// loads stand beside them. Kernels come from the recorded profiles given; a load whose kernels none
// of them holds is left out, by name. OUT_FOLDER/loads.json says what was planted, for judge.py.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/diagnosis/busy_time.h"
#include "bench/diagnosis/causes.h"
#include "bench/diagnosis/draft_timeline.h"
#include "bench/diagnosis/run_writer.h"

namespace utlz {
namespace {

constexpr double kStrengths[] = {0.5, 1, 2};
// A hundredth more, for a load planted at its threshold to be above it by more than its noise.
constexpr double kMargin = 1.01;
constexpr uint32_t kSeed = 1;

struct Load {
  std::string name;
  std::string base;
  const Cause* cause = nullptr;  // none: healthy
  double strength = 0;
};

std::vector<Load> AllLoads() {
  std::vector<Load> loads;
  for (const char* base : HealthyLoads()) {
    loads.push_back({.name = std::string("healthy-") + base, .base = base});
  }
  for (const Cause& cause : Causes()) {
    for (const double strength : kStrengths) {
      char name[100];
      std::snprintf(name, sizeof name, "%s-%g", cause.name, strength);
      loads.push_back({name, cause.base, &cause, strength});
    }
  }
  return loads;
}

// What is known of the draft's steps, once it is planned as `run`.
std::vector<KnownLevel> LevelsOf(const Draft& draft, const PlannedRun& run) {
  if (!draft.has_steps || !draft.levels.empty()) return draft.levels;
  const size_t steps = draft.ranks.front().size();
  const bool usual = draft.usual_step_ns > 0;
  const double mean_ns =
      static_cast<double>(run.end_ns - run.steps_start_ns) / static_cast<double>(steps);
  const double step_ns = usual ? draft.usual_step_ns : mean_ns;
  std::vector<KnownLevel> levels = {{.steps = steps, .step_ns = step_ns, .usual = usual}};
  if (draft.steps_per_call > 1) {
    const auto tokens = static_cast<double>(draft.steps_per_call);
    levels.push_back({.steps = steps / draft.steps_per_call, .step_ns = tokens * step_ns});
  }
  return levels;
}

void Describe(const Load& load, const Draft& draft, const PlannedRun& run, bool first,
              std::FILE* file) {
  std::fprintf(file, "%s\n {\"load\": \"%s\", \"file\": \"%s.utlz\", \"base\": \"%s\"",
               first ? "" : ",", load.name.c_str(), load.name.c_str(), load.base.c_str());
  if (load.cause != nullptr) {
    std::fprintf(file,
                 ", \"cause\": \"%s\", \"strength\": %g, \"threshold\": %g, \"of\": \"%s\", "
                 "\"threshold_from\": \"%s\"",
                 load.cause->name, load.strength, load.cause->threshold, load.cause->of,
                 load.cause->from);
  }
  std::fprintf(file, ", \"ranks\": %zu", run.ranks.size());
  if (draft.busy_known) std::fprintf(file, ", \"busy_share\": %.4f", BusyShare(run));
  std::fprintf(file, ", \"levels\": [");
  bool first_level = true;
  for (const KnownLevel& level : LevelsOf(draft, run)) {
    std::fprintf(file, "%s{\"steps\": %zu, \"step_ns\": %.0f%s}", first_level ? "" : ", ",
                 level.steps, level.step_ns, level.usual ? ", \"usual\": true" : "");
    first_level = false;
  }
  std::fprintf(file, "]}");
}

// False where the kernels were not recorded, or writing failed (`failed`).
bool Make(const Load& load, const Recordings& recordings, const std::filesystem::path& folder,
          bool first, std::FILE* manifest, bool* failed) {
  std::optional<Draft> draft = HealthyDraft(load.base, recordings);
  const bool needs_decoder = load.cause != nullptr && load.cause->needs_decoder;
  if (!draft.has_value() || (needs_decoder && recordings.decoder == nullptr)) {
    std::printf("%s: left out, no profile given holds such kernels\n", load.name.c_str());
    return false;
  }
  if (load.cause != nullptr)
    load.cause->plant(kMargin * load.strength * load.cause->threshold, &*draft);
  const PlannedRun run = Planned(*draft, kSeed);
  const absl::Status status = WritePlannedRun(run, folder / (load.name + ".utlz"));
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    *failed = true;
    return false;
  }
  Describe(load, *draft, run, first, manifest);
  return true;
}

int Main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: make_loads OUT_FOLDER PROFILE...\n");
    return 2;
  }
  std::vector<RecordedLoad> loads;
  for (int i = 2; i < argc; ++i) {
    absl::StatusOr<RecordedLoad> load = ReadRecordedLoad(argv[i]);
    if (!load.ok()) {
      std::fprintf(stderr, "%s\n", std::string(load.status().message()).c_str());
      return 1;
    }
    loads.push_back(*std::move(load));
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  std::FILE* manifest = std::fopen((folder / "loads.json").c_str(), "w");
  if (manifest == nullptr) {
    std::perror((folder / "loads.json").c_str());
    return 1;
  }
  std::fputs("[", manifest);
  bool first = true;
  bool failed = false;
  for (const Load& load : AllLoads()) {
    if (Make(load, Sorted(loads), folder, first, manifest, &failed)) first = false;
  }
  std::fputs("\n]\n", manifest);
  failed = std::fclose(manifest) != 0 || failed;
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace utlz

int main(int argc, char** argv) { return utlz::Main(argc, argv); }
