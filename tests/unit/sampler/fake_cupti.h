// A CUPTI in miniature behind CuptiTable: GPUs whose counters tick at known rates. Time is what
// the test says it is, in whole samples per window. It is as touchy as the real one (seen with 13.0
// on an H200): an image can be initialized only after its size was asked for since enabling,
// another configuration while enabled brings no samples, and nothing starts after an overflow.
#ifndef UTLZ_TESTS_UNIT_SAMPLER_FAKE_CUPTI_H_
#define UTLZ_TESTS_UNIT_SAMPLER_FAKE_CUPTI_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "collector/sampler/driver/cupti_table.h"

namespace utlz {

// The table's functions reach the fake that was made last: one at a time.
class FakeCupti {
 public:
  FakeCupti();
  FakeCupti(const FakeCupti&) = delete;
  FakeCupti& operator=(const FakeCupti&) = delete;
  ~FakeCupti();

  CuptiTable table();

  // What the device is and has.
  std::string chip = "GH100";
  std::map<std::string, double> metrics;  // value of every sample, by full name
  std::set<std::string> dear_metrics;     // take a pass of their own
  // Results of the calls; 0 = success.
  int availability_result = 0;
  int enable_result = 0;
  int set_config_result = 0;
  int start_result = 0;
  int start_beside_result = 0;  // while another GPU is sampled
  int decode_result = 0;
  uint64_t start_takes_ns = 0;
  // The windows.
  uint32_t samples_per_window = 10;
  bool no_samples_beside = false;  // of one that began while another GPU was sampled
  uint64_t first_start_ns = 1'000'000;
  int gap_after_sample = -1;  // one sample is missing after this one
  uint8_t overflow = 0;
  bool fill_image = false;  // say that the image was full
  size_t image_bytes_per_sample = 100;

  // What was done.
  int enables = 0;
  int disables = 0;
  int set_configs = 0;
  int starts = 0;
  int stops = 0;
  int hosts_alive = 0;
  bool enabled = false;              // any
  int sampling = 0;                  // GPUs that are now
  int most_sampling = 0;             // at once
  bool read_while_sampling = false;  // one was, while another's window was decoded
  bool set_while_sampling = false;
  uint64_t interval_ns = 0;
  int trigger_mode = -1;
  uint32_t image_samples = 0;

  // One that was enabled, and its touchiness.
  struct Gpu {
    bool enabled = false;
    bool size_asked = false;
    bool poisoned = false;
    const uint8_t* config = nullptr;
    bool config_replaced = false;
    bool began_beside = false;
  };
  std::map<size_t, Gpu> gpus;    // by device index
  const Gpu* decoded = nullptr;  // the last one
};

}  // namespace utlz

#endif  // UTLZ_TESTS_UNIT_SAMPLER_FAKE_CUPTI_H_
