// Errors of a column that only the other columns show.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_ERRORS_OF_OTHERS_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_ERRORS_OF_OTHERS_H_

#include <vector>

#include "collector/attribution/fit_model.h"
#include "collector/attribution/options.h"
#include "collector/attribution/solution.h"

namespace utlz::attribution {

// One launch cannot show how far launches differ: as far as those of other columns do. Where no
// other column shows it either, there is no error.
void AddLaunchErrors(const FitModel& model, std::vector<ColumnEstimate>* columns);

// What was seen in few windows cannot show how windows differ: what differs for others differs
// there. Sets how many windows there were.
void AddWindowErrors(const FitModel& model, std::vector<ColumnEstimate>* columns);

// Of counters behind caches: a share of the device's bandwidth, of which the busiest column shows
// how much there is.
void AddCacheErrors(const Options& options, std::vector<ColumnEstimate>* columns);

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_ERRORS_OF_OTHERS_H_
