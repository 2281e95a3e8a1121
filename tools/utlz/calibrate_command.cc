#include <cstdio>
#include <memory>
#include <string>

#include "tools/calibrate/calibrate.h"
#include "tools/calibrate/ceilings_store.h"
#include "tools/run/say.h"
#include "tools/utlz/command.h"
#include "tools/utlz/option_checks.h"

namespace utlz {
namespace {

struct CalibrateArguments {
  CalibrateOptions options;
  int device = 0;
};

int RunCalibration(const CLI::App& subcommand, CalibrateArguments* arguments) {
  CalibrateOptions& options = arguments->options;
  if (subcommand.count("--device") > 0) options.device = arguments->device;
  options.folder = CeilingsFolder();
  options.print = [](const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  };
  const absl::Status status = Calibrate(options);
  if (status.ok()) return kSuccess;
  return Fail(status, kFailure);
}

}  // namespace

void AddCalibrateCommand(CLI::App* program, Action* action) {
  const auto arguments = std::make_shared<CalibrateArguments>();
  CLI::App* calibrate = program->add_subcommand(
      "calibrate", "Measure what this machine's GPUs attain, about 20 seconds each, and keep it");
  calibrate->add_option("--device", arguments->device, "Only this GPU, as CUDA counts them")
      ->check(NumberRange(0, 63))
      ->type_name("N");
  calibrate
      ->add_option("--cublas-lt", arguments->options.cublas_lt_path,
                   "A libcublasLt to use; default: of PyTorch's wheels, a toolkit, the loader")
      ->type_name("FILE");
  calibrate->add_flag("--force", arguments->options.force, "Run even if the GPU is busy");
  calibrate->callback([calibrate, arguments, action] {
    *action = [calibrate, arguments] { return RunCalibration(*calibrate, arguments.get()); };
  });
}

}  // namespace utlz
