// Reduces the model to the Summary. Each part of it is made in a file of its own.
#ifndef UTLZ_COLLECTOR_MODEL_SUMMARY_BUILDER_H_
#define UTLZ_COLLECTOR_MODEL_SUMMARY_BUILDER_H_

#include "collector/model/model_state.h"

namespace utlz {

Summary BuildSummary(const ModelState& model);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_MODEL_SUMMARY_BUILDER_H_
