// What the run made of the hardware and the money: HFU and MFU, attainable HFU, throughput, energy,
// cost, memory, communication. Formulas: docs/report_json.md.
#ifndef UTLZ_COLLECTOR_MODEL_EFFICIENCY_H_
#define UTLZ_COLLECTOR_MODEL_EFFICIENCY_H_

#include "collector/model/analysis.h"

namespace utlz {

// Devices, kernels, steps and the waterfall must be filled already.
void SummarizeEfficiency(const ModelState& model, const Analysis& analysis, Summary* summary);
void SummarizeMemory(const ModelState& model, Summary* summary);
void SummarizeCommunication(const ModelState& model, const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_MODEL_EFFICIENCY_H_
