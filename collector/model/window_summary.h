// What part of the run the report's shares and findings speak of.
#ifndef UTLZ_COLLECTOR_MODEL_WINDOW_SUMMARY_H_
#define UTLZ_COLLECTOR_MODEL_WINDOW_SUMMARY_H_

#include "collector/model/analysis.h"

namespace utlz {

// Fills Summary.window where some device worked; run must be filled already.
void SummarizeWindow(const ModelState& model, const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_MODEL_WINDOW_SUMMARY_H_
