// Keeps the profile of a long run small: once it has used up what it may take, records that come by
// the thousand (launches, copies, ranges, samples) are written in windows and left out between
// them.
//
// The report at the run's end counts every record, since RunIntake gets them all. A program that
// reads the profile later finds no launches in the stretches that were left out. Trace windows are
// cut accordingly, so that these stretches count as not traced.
//
// What describes (names, variants, states, …) is written whole while its own part of the allowance
// lasts: a target that floods the collector with it fills no disk.
//
// Not thread safe.
#ifndef UTLZ_COLLECTOR_SESSION_PROFILE_THINNING_H_
#define UTLZ_COLLECTOR_SESSION_PROFILE_THINNING_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

namespace utlz {

// 1 GB in the first day of a run, whatever it launches: a burst that holds all of a short run, then
// the rest evenly.
struct ProfileAllowance {
  uint64_t burst_bytes = 256 << 20;
  double bytes_per_second = (1e9 - (256 << 20)) / 86400;
  uint64_t window_bytes = 4 << 20;  // what must have been saved before records are written again
  uint64_t description_bytes = 256 << 20;  // beyond the above, for what agents send that describes
  uint64_t maximum_bytes = uint64_t{16} << 30;  // of a profile, however long the run
  uint64_t kept_bytes = 32 << 20;  // beyond the above, each time that KeepFor() was asked
};

class ProfileThinning {
 public:
  using Clock = std::chrono::steady_clock;
  using Sink = std::function<void(uint32_t source, uint16_t type, std::string_view payload)>;

  ProfileThinning(const ProfileAllowance& allowance, Clock::time_point start)
      : allowance_(allowance), start_(start) {}

  // Hands `write` what of this frame, and about it, belongs into a profile that has
  // `bytes_written`.
  void Offer(uint32_t source, uint16_t type, std::string_view payload, Clock::time_point now,
             uint64_t bytes_written, const Sink& write);

  // Whether a profile may hold so many bytes by now, whatever they are.
  bool HasRoom(Clock::time_point now, uint64_t bytes) const;

  // Leaves nothing out for so long, within `kept_bytes`.
  void KeepFor(Clock::duration time, Clock::time_point now) {
    keep_until_ = now + time;
    keep_from_bytes_.reset();
  }

  // Whether records were left out so far.
  bool thinned() const { return thinned_; }
  // Whether anything else was, that agents sent.
  bool descriptions_left_out() const { return descriptions_left_out_; }

 private:
  // What the profile says of a process's tracing, and what is so.
  struct Tracing {
    bool left_out = false;  // launches are missing since the profile's last window
    bool open = false;      // the agent traces
    uint32_t flags = 0;
    uint64_t start_ns = 0;    // of the agent's window
    uint64_t written_ns = 0;  // of the same window in the profile; differs once it was cut
  };

  bool IsKept(Clock::time_point now, uint64_t bytes_written);
  bool MayWrite(Clock::time_point now, uint64_t bytes_written);
  double AllowedBytes(Clock::time_point now) const;
  void OfferTraceWindow(uint32_t source, std::string_view payload, const Sink& write);
  void CloseProcess(uint32_t source, std::string_view payload, const Sink& write);
  void LeaveOutLaunches(uint32_t source, std::string_view payload, const Sink& write);
  void WriteLaunches(uint32_t source, std::string_view payload, const Sink& write);

  ProfileAllowance allowance_;
  Clock::time_point start_;
  Clock::time_point keep_until_{};
  std::optional<uint64_t> keep_from_bytes_;  // what the profile had when the keeping began
  bool writing_ = true;
  bool thinned_ = false;
  bool descriptions_left_out_ = false;
  std::map<uint32_t, Tracing> tracing_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SESSION_PROFILE_THINNING_H_
