// The command line's limits of alerts, which several commands take.
#ifndef UTLZ_TOOLS_UTLZ_ALERT_OPTIONS_H_
#define UTLZ_TOOLS_UTLZ_ALERT_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/report/alert_limits.h"

namespace utlz {

// --alert NAME=VALUE, as often as wanted; ParseAlertLimits() reads what it leaves in `words`.
void AddAlertOption(CLI::App* command, std::vector<std::string>* words);

}  // namespace utlz

#endif  // UTLZ_TOOLS_UTLZ_ALERT_OPTIONS_H_
