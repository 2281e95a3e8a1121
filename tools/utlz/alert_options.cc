#include "tools/utlz/alert_options.h"

namespace utlz {

void AddAlertOption(CLI::App* command, std::vector<std::string>* words) {
  command
      ->add_option("--alert", *words,
                   "A limit of an alert, as sm_active_low=25% or idle_seconds=off; may be given "
                   "again")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

}  // namespace utlz
