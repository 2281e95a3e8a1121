// The sampler process: reads device counters of every GPU that it is asked to, and nothing else. It
// alone needs the counter privilege, and it parses no byte that a target wrote.
#ifndef UTLZ_COLLECTOR_SAMPLER_SAMPLER_MAIN_H_
#define UTLZ_COLLECTOR_SAMPLER_SAMPLER_MAIN_H_

#include <string>
#include <vector>

#include "collector/sampler/channel/sampler_options.h"

namespace utlz {

// Runs until the channel closes or a quit command comes. Returns the process's exit status: 0 also
// where no counters could be had, since that is said by FRAME_SAMPLER_STATUS on the channel.
int SamplerMain(const SamplerOptions& options);

// All of `utlz sampler`: `arguments` are what follows the subcommand's name. 2 = bad arguments.
int SamplerCommandLine(const std::vector<std::string>& arguments);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_SAMPLER_MAIN_H_
