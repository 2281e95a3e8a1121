// The sampler's part in a session: starts it, hands its frames on, and says why there is none.
//
// Not thread safe.
#ifndef UTLZ_COLLECTOR_SESSION_SAMPLER_FEED_H_
#define UTLZ_COLLECTOR_SESSION_SAMPLER_FEED_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "collector/sampler/channel/sampler_client.h"
#include "collector/session/session_options.h"
#include "proto/sampler.pb.h"

namespace utlz {

// When the sampler counts.
enum class SamplingWindows {
  kItsOwn,      // as its own budgets allow
  kPlanned,     // where WindowAt() says
  kFewPlanned,  // the same, and in short intervals
};

class SamplerFeed {
 public:
  using FrameSink = std::function<void(uint16_t type, std::string_view payload)>;

  using ReadySink = std::function<void(const SamplerReady&)>;
  using WindowSink = std::function<void(const SamplerWindow&)>;

  // `sink` gets frames of the sampler's types only, `ready` when the sampler can open a window,
  // `decided` when one begins that another collector asked for.
  SamplerFeed(FrameSink sink, ReadySink ready, WindowSink decided)
      : sink_(std::move(sink)), ready_(std::move(ready)), decided_(std::move(decided)) {}

  // Starts the session's sampler, which takes no counters, only totals, where its mode says so.
  void Start(const SessionOptions& session, SamplingWindows windows);

  // Readable when Read() has something to do; -1 where there is no sampler.
  int fd() const { return client_ == nullptr ? -1 : client_->fd(); }
  void Read();

  // A target uses this GPU.
  void UseDevice(std::string_view uuid);

  // New kernels appeared: look at them soon.
  void OpenWindow();
  // A window that it was ready for.
  void WindowAt(const std::string& device_uuid, uint64_t begin_ns);
  // What is known of a GPU's load (SamplingProgress); it is said when it changes.
  void Progress(const std::string& device_uuid, uint64_t progress);
  // CPU time that attributing the GPU's samples has taken so far.
  void CollectorSpent(const std::string& device_uuid, uint64_t cpu_ns);
  // Let go of the counters, and take them back.
  void Yield();
  void Resume();

  void Stop();

  bool has_samples() const { return has_samples_; }

  uint64_t refused_frames() const { return refused_frames_; }
  // Sentences for the report.
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  void Forward(uint16_t type, std::string_view payload);
  void ConsumeStatus(std::string_view payload);

  FrameSink sink_;
  ReadySink ready_;
  WindowSink decided_;
  std::unique_ptr<SamplerClient> client_;
  std::map<std::string, uint64_t> progress_;  // as it was said last, by GPU
  std::map<std::string, uint64_t> spent_ns_;  // the same
  bool device_used_ = false;
  bool wants_counters_ = false;
  bool has_status_ = false;
  bool may_count_ = true;  // unless it has said why not
  bool has_samples_ = false;
  uint64_t refused_frames_ = 0;
  std::vector<std::string> notices_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_SAMPLER_FEED_H_
