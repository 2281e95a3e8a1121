// Turns a model's sums into estimates with errors, and folds columns that the samples cannot
// separate.
#ifndef UTLZ_COLLECTOR_ATTRIBUTION_COLUMN_REPORT_H_
#define UTLZ_COLLECTOR_ATTRIBUTION_COLUMN_REPORT_H_

#include "collector/attribution/fit_model.h"
#include "collector/attribution/options.h"
#include "collector/attribution/solution.h"
#include "collector/attribution/variant_table.h"

namespace utlz::attribution {

// Fills columns, groups and totals of `solution`. Up to `threads` share the work.
void ReportColumns(const FitModel& model, const VariantTable& variants, const Options& options,
                   unsigned threads, Solution* solution);

}  // namespace utlz::attribution

#endif  // UTLZ_COLLECTOR_ATTRIBUTION_COLUMN_REPORT_H_
