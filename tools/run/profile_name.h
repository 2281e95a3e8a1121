// The name that a profile gets where none is given.
#ifndef UTLZ_TOOLS_RUN_PROFILE_NAME_H_
#define UTLZ_TOOLS_RUN_PROFILE_NAME_H_

#include <sys/types.h>
#include <time.h>

#include <cstdint>
#include <string>

namespace utlz {

// "utlz-<command>-<YYYYmmdd-HHMMSS>-<pid>-<random>.utlz" in local time, the random part as eight
// hexadecimal digits, so that nobody can put something there before. Of the command's file name,
// what is neither a letter, a digit, a dot, a dash nor above ASCII becomes '_'; at most 64 bytes of
// it.
std::string DefaultProfileName(const std::string& command, time_t now, pid_t pid, uint32_t random);

}  // namespace utlz

#endif  // UTLZ_TOOLS_RUN_PROFILE_NAME_H_
