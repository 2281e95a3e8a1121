// The sampler's part in a session: starts it, hands its frames on, and says why there is none.
//
// Not thread safe.
#ifndef UTLZ_COLLECTOR_SESSION_SAMPLER_FEED_H_
#define UTLZ_COLLECTOR_SESSION_SAMPLER_FEED_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "collector/sampling/sampler_client.h"
#include "collector/session/session.h"

namespace utlz {

class SamplerFeed {
 public:
  using FrameSink = std::function<void(uint16_t type, std::string_view payload)>;

  // `sink` gets frames of the sampler's types only.
  explicit SamplerFeed(FrameSink sink) : sink_(std::move(sink)) {}

  // Starts `executable` as sampler, which takes no counters, only totals, where `mode` says so.
  void Start(const std::string& executable, CountersMode mode);

  // Readable when Read() has something to do; -1 where there is no sampler.
  int fd() const { return client_ == nullptr ? -1 : client_->fd(); }
  void Read();

  // A target uses this GPU.
  void UseDevice(std::string_view uuid);

  // New kernels appeared: look at them soon.
  void OpenWindow();
  // Let go of the counters, and take them back.
  void Yield();
  void Resume();

  void Stop();

  uint64_t refused_frames() const { return refused_frames_; }
  // Sentences for the report.
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  void Forward(uint16_t type, std::string_view payload);

  FrameSink sink_;
  std::unique_ptr<SamplerClient> client_;
  bool device_used_ = false;
  uint64_t refused_frames_ = 0;
  std::vector<std::string> notices_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_SAMPLER_FEED_H_
