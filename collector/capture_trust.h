// From when on a report relies on what was sampled and measured: one definition for all its parts.
#ifndef UTLZ_COLLECTOR_CAPTURE_TRUST_H_
#define UTLZ_COLLECTOR_CAPTURE_TRUST_H_

#include <algorithm>

namespace utlz {

// Of the steps' traced time: samples of less may have met few of their kernels.
inline constexpr double kFewSamples = 0.02;
// Of kernel time: if so much has no counters, those of the rest say little of the whole.
inline constexpr double kMostlyUncounted = 0.5;

// Where kernels of several processes ran at once for longer than this share, bytes and FLOPs of
// these processes' kernels are withheld; where for less, the samples of that time are left out, and
// what launches are taken to have done in it is off by this share at most.
inline constexpr double kMostOverlap = 0.01;

// Of `device`, a DeviceSummary: bytes and FLOPs of kernels are not known, since nobody can tell
// whose they are. More samples would not help.
template <typename Message>
bool IsWorkOfSeveral(const Message& device) {
  return device.has_overlap_share() && device.overlap_share() > kMostOverlap;
}

// Of `summary`, a Summary: some device's work is.
template <typename Message>
bool HoldsWorkOfSeveral(const Message& summary) {
  for (const auto& device : summary.devices()) {
    if (IsWorkOfSeveral(device)) return true;
  }
  return false;
}

// Of what a GPU did: if CUPTI recorded so much less, its idle time, and times and shares of its
// kernels, are not to be trusted.
inline constexpr double kMuchUnrecorded = 0.05;

// Of `summary`, a Summary: the largest share of a device's work that is in no record, where that is
// much; else 0.
template <typename Message>
double MuchUnrecordedWork(const Message& summary) {
  double most = 0;
  for (const auto& device : summary.devices()) {
    most = std::max(most, device.unrecorded_work_share());
  }
  return most >= kMuchUnrecorded ? most : 0;
}

// Of `message`, a CaptureSummary.
template <typename Message>
bool AreHardlySampled(const Message& message) {
  return message.has_steps_sampled_share() && message.steps_sampled_share() < kFewSamples;
}

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_CAPTURE_TRUST_H_
