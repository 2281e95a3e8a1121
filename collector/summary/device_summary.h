// The devices of the summary: how busy each was as nvidia-smi would say it, and how much of it
// really worked. Formulas: docs/reference/report_json.md.
#ifndef UTLZ_COLLECTOR_SUMMARY_DEVICE_SUMMARY_H_
#define UTLZ_COLLECTOR_SUMMARY_DEVICE_SUMMARY_H_

#include <cstdint>
#include <optional>

#include "collector/analysis/analysis.h"

namespace utlz {

// Fills Summary.devices with the devices that the run used, in nvidia-smi's order where their PCI
// addresses are known.
void SummarizeDevices(const RunState& run_state, const Analysis& analysis, Summary* summary);

// Index into Summary.devices of the device with this index into DeviceTable; nothing where the run
// did not use it.
std::optional<int> IndexInSummary(const RunState& run_state, uint32_t device,
                                  const Summary& summary);

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SUMMARY_DEVICE_SUMMARY_H_
