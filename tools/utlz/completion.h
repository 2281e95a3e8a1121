// Scripts by which a shell completes the words of utlz, utlz-run and utlz-attach.
#ifndef UTLZ_TOOLS_UTLZ_COMPLETION_H_
#define UTLZ_TOOLS_UTLZ_COMPLETION_H_

#include <string>
#include <vector>

#include "tools/utlz/command_description.h"

namespace utlz {

std::string BashCompletion(const std::vector<CommandDescription>& commands);
std::string ZshCompletion(const std::vector<CommandDescription>& commands);
std::string FishCompletion(const std::vector<CommandDescription>& commands);

}  // namespace utlz

#endif  // UTLZ_TOOLS_UTLZ_COMPLETION_H_
