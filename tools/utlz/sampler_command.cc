#include <string>
#include <vector>

#include "collector/sampler/sampler_main.h"
#include "tools/utlz/command.h"

namespace utlz {

// Not for people: the collector starts its sampler by this command.
CLI::App* AddSamplerCommand(CLI::App* program, const std::vector<std::string>* words,
                            Action* action) {
  CLI::App* sampler = program->add_subcommand("sampler", "");
  sampler->group("");  // hidden
  sampler->callback([words, action] {
    *action = [words] { return SamplerCommandLine(*words); };
  });
  return sampler;
}

}  // namespace utlz
