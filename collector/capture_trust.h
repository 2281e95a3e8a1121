// From when on a report relies on what was sampled and measured: one definition for all its parts.
#ifndef UTLZ_COLLECTOR_CAPTURE_TRUST_H_
#define UTLZ_COLLECTOR_CAPTURE_TRUST_H_

namespace utlz {

// Of the steps' traced time: samples of less may have met few of their kernels.
inline constexpr double kFewSamples = 0.02;
// Of kernel time: if so much has no counters, those of the rest say little of the whole.
inline constexpr double kMostlyUncounted = 0.5;

// Of `message`, a CaptureSummary.
template <typename Message>
bool AreHardlySampled(const Message& message) {
  return message.has_steps_sampled_share() && message.steps_sampled_share() < kFewSamples;
}

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_CAPTURE_TRUST_H_
