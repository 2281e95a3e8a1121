// The clocks of all hosts on that of the first.
#ifndef UTLZ_TOOLS_MERGE_HOST_CLOCKS_H_
#define UTLZ_TOOLS_MERGE_HOST_CLOCKS_H_

#include <string>
#include <vector>

#include "tools/merge/clock_alignment.h"
#include "tools/merge/collective_reader.h"

namespace utlz {

struct HostClock {
  std::string host;
  bool aligned = false;  // false: no collective ties it to the others; its clock is taken as it is
  ClockShift shift;      // against the first host's clock
  std::vector<std::string> notes;
};

// One a host, in the order of the profiles; profiles of one host share its clock. A host that has
// no collectives with the first is tied to it through others, errors added.
std::vector<HostClock> AlignHosts(const std::vector<ProfileOutline>& profiles);

}  // namespace utlz

#endif  // UTLZ_TOOLS_MERGE_HOST_CLOCKS_H_
