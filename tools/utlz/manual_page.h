// Manual pages (man 7 man): what --help says, for `man utlz-report`.
#ifndef UTLZ_TOOLS_UTLZ_MANUAL_PAGE_H_
#define UTLZ_TOOLS_UTLZ_MANUAL_PAGE_H_

#include <string>
#include <vector>

#include "tools/utlz/command_description.h"

namespace utlz {

// Of the program, `text` being what it is in one line.
std::string ProgramPage(const std::string& text, const std::vector<CommandDescription>& commands);
// Of one of its commands, which goes by the name utlz-COMMAND.
std::string CommandPage(const CommandDescription& command);

}  // namespace utlz

#endif  // UTLZ_TOOLS_UTLZ_MANUAL_PAGE_H_
