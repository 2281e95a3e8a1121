// attribution_check: how well the attribution engine does on a recording, against Nsight Compute.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/attribution_check/attribution_score.h"
#include "tools/attribution_check/capture.h"
#include "tools/attribution_check/reference.h"
#include "tools/attribution_check/score_text.h"

namespace utlz {
namespace {

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "attribution_check: %s\n", std::string(status.message()).c_str());
  return 1;
}

int Run(int argc, char** argv) {
  CLI::App app("Compares attributed bytes and FLOPs of a recording with Nsight Compute's");
  std::string capture_prefix;
  std::vector<std::string> reference_paths;
  bool json = false;
  TensorPeak peak;
  app.add_option("--capture", capture_prefix, "PATH/NAME of NAME.k.gz, NAME.names.gz, NAME.pm.gz")
      ->required();
  app.add_option("--reference", reference_paths, "ncu's CSV of one step; several are averaged")
      ->required();
  app.add_flag("--json", json, "print JSON instead of a table");
  app.add_option("--flops-per-cycle", peak.flops_per_cycle,
                 "dense 16-bit tensor FLOPs per cycle and multiprocessor")
      ->capture_default_str();
  app.add_option("--multiprocessors", peak.multiprocessors)->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const absl::StatusOr<Capture> capture = ReadCapture(capture_prefix);
  if (!capture.ok()) return Fail(capture.status());
  const absl::StatusOr<std::vector<ReferenceLaunch>> reference = ReadReference(reference_paths);
  if (!reference.ok()) return Fail(reference.status());
  const absl::StatusOr<AttributionScore> score = ScoreAttribution(*capture, *reference, peak);
  if (!score.ok()) return Fail(score.status());
  std::printf("%s\n", (json ? ScoreJson(*score) : ScoreTable(*score)).c_str());
  return 0;
}

}  // namespace
}  // namespace utlz

int main(int argc, char** argv) { return utlz::Run(argc, argv); }
