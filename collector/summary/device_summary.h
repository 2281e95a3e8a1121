// The devices of the summary: how busy each was as nvidia-smi would say it, and how much of it
// really worked. Formulas: docs/reference/report_json.md.
#ifndef UTLZ_COLLECTOR_SUMMARY_DEVICE_SUMMARY_H_
#define UTLZ_COLLECTOR_SUMMARY_DEVICE_SUMMARY_H_

#include "collector/analysis/analysis.h"

namespace utlz {

// Fills Summary.devices with the devices that the run used, in the order of DeviceTable.
void SummarizeDevices(const RunState& run_state, const Analysis& analysis, Summary* summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_DEVICE_SUMMARY_H_
