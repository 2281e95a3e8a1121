// How long a device stood idle between a copy to the host and the next copy from it: what a server
// does between an answer and the next request, and a training that reads back its loss and then
// waits for a batch. How much such waits differ tells them apart. Thread safety: none.
#ifndef UTLZ_COLLECTOR_TIMELINE_ANSWERED_WAITS_H_
#define UTLZ_COLLECTOR_TIMELINE_ANSWERED_WAITS_H_

#include "collector/timeline/concurrency_tracker.h"

namespace utlz {

class AnsweredWaits {
 public:
  // Segments in order, as the device's sweep closes them.
  void Add(const ActivitySegment& segment);

  double count() const { return count_; }
  double time_ns() const { return sum_ns_; }
  double squares() const { return squares_; }  // sum over waits, ns²

 private:
  ActivityMask last_mask_ = 0;  // of what ran last
  double count_ = 0;
  double sum_ns_ = 0;
  double squares_ = 0;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_TIMELINE_ANSWERED_WAITS_H_
