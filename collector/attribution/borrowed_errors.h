// Errors of a column that its own samples cannot show: they are taken from the other columns.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_BORROWED_ERRORS_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_BORROWED_ERRORS_H_

#include <vector>

#include "collector/attribution/fit_model.h"
#include "collector/attribution/options.h"
#include "collector/attribution/solution.h"

namespace utlz::attribution {

// For columns with one launch, which cannot show how far launches differ: takes them to differ as
// far as those of the other columns. Without an error where no other column shows that either.
void AddLaunchErrors(const FitModel& model, std::vector<ColumnEstimate>* columns);

// For columns that were seen in few windows: takes windows to differ as far as for the other
// columns. Sets ColumnEstimate::windows.
void AddWindowErrors(const FitModel& model, std::vector<ColumnEstimate>* columns);

// For counters behind caches: adds Options::cache_share of the bandwidth that the busiest column
// reaches.
void AddCacheErrors(const Options& options, std::vector<ColumnEstimate>* columns);

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_BORROWED_ERRORS_H_
