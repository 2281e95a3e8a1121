// When to sample, and for how long. Pure arithmetic on the times that it is given.
//
// Two accounts fill with time and are drawn on by every window: time with sampling on, and CPU time
// of the sampler (power_account.h has what counters cost a GPU). A window may begin while both hold
// something, so that over a long run neither exceeds its share, and a fresh run is sampled at once
// out of the starting credit. Of CPU time the credit is a loan: until it is paid
// back the account fills at half its share, so that from then on no run is above that. Pauses are
// dithered, so that windows do not fall into step with a load that repeats.
//
// A part of the CPU credit is kept until the load is steady, and most of what comes in until then:
// what a program does while it compiles and tries kernels out says little of its steps. CPU time
// that nobody else would use, on idle cores, is no debt: while the load is steady, and where it is
// more than the share, the account fills by that.
//
// Where kernels are recorded throughout, and perhaps never again, idle cores pay before the load is
// steady, too: for no more than half the credit, or a long start-up would fill the report with
// kernels that were only tried out. While they do, or once the load is steady, windows follow each
// other without a pause, whether the GPU idles or not: most of the time it does where programs wait
// for their launches.
//
// Samples cost their collectors CPU time, too, who attribute them. Collectors have as large a share
// of their own. What they take beyond it is drawn from what idle cores have paid, and from nothing
// else: the sampler's share stays, whatever collectors say.
#ifndef UTLZ_COLLECTOR_SAMPLER_WINDOW_SCHEDULE_H_
#define UTLZ_COLLECTOR_SAMPLER_WINDOW_SCHEDULE_H_

#include <cstdint>

namespace utlz {

struct WindowScheduleOptions {
  uint64_t window_ns = 30'000'000;
  uint64_t minimum_window_ns = 2'000'000;
  uint64_t minimum_pause_ns = 30'000'000;  // between windows while credit lasts
  uint64_t idle_window_ns = 5'000'000;     // on a GPU that was idle in the window before
  uint64_t idle_pause_ns = 400'000'000;
  uint32_t duty_ppm = 1'000'000;
  uint64_t duty_burst_ns = 2'000'000'000;
  uint32_t cpu_budget_ppm = 50'000;  // 0 = no limit
  uint64_t cpu_burst_ns = 1'500'000'000;
  uint64_t steady_reserve_ns = 0;  // of cpu_burst_ns, kept until SetSteady
  uint64_t seed = 1;               // of the dither
};

// Of a credit, at first: setting up and four windows or so are paid from the rest.
constexpr uint64_t SteadyReserveNs(uint64_t cpu_burst_ns) { return cpu_burst_ns / 8 * 5; }

class WindowSchedule {
 public:
  // Times are monotonic nanoseconds. The first window may begin at once.
  WindowSchedule(const WindowScheduleOptions& options, uint64_t now_ns);

  // When the next window may begin, and how long it should be. UINT64_MAX: never (duty is 0).
  uint64_t next_start_ns() const { return next_start_ns_; }
  uint64_t window_ns() const;

  // A window ended: sampling was on for `on_ns`, and it cost `cpu_ns` of CPU time in all.
  // `idle`: the GPU did next to nothing in it.
  void Finished(uint64_t now_ns, uint64_t on_ns, uint64_t cpu_ns, bool idle);

  // The hardware buffer ran over inside a window: windows get shorter, and longer again while it
  // does not.
  void Overflowed();

  // Cost besides windows, as of configuring: drawn from the CPU account.
  void Spent(uint64_t cpu_ns) { cpu_credit_ns_ -= static_cast<double>(cpu_ns); }
  // The same of taking the counters, which takes a third of the credit or less: what is kept for
  // steady work is of the rest.
  void SetUp(uint64_t cpu_ns);

  // Collectors attributed samples for so long since they last said so.
  void SpentByCollectors(uint64_t now_ns, uint64_t cpu_ns);

  void SetDuty(uint64_t now_ns, uint32_t duty_ppm);
  void SetCpuBudget(uint64_t now_ns, uint32_t cpu_budget_ppm);
  // CPU time that costs nobody anything, in millionths of a core (IdleCores).
  void SetIdleCpu(uint64_t now_ns, uint32_t idle_ppm);
  // The load repeats itself, or does so no more. At first it does not.
  void SetSteady(uint64_t now_ns, bool steady);
  // The GPU works, and its kernels are recorded throughout, perhaps never again; or not so.
  void SetHurried(uint64_t now_ns, bool hurried);
  // Windows of now may be of a start-up, and are so many only because records may end.
  bool early() const { return hurried_ && !steady_; }
  // Begin a window as soon as possible, even if an account is slightly overdrawn.
  void RequestWindow(uint64_t now_ns);

 private:
  void Refill(uint64_t now_ns);
  bool OwesCredit(uint64_t now_ns) const;
  double CpuSharePpm(uint64_t now_ns) const;
  // Of the CPU account, what may be spent now.
  double SpendableCpuNs() const;
  double KeptSharePpm(uint64_t now_ns) const;
  bool IdlePays() const {
    return idle_cpu_ppm_ > 0 && (steady_ || (hurried_ && early_left_ns_ > 0));
  }
  bool Hurries() const { return hurried_ && (steady_ || IdlePays()); }
  double ShortestPauseNs() const;
  void SpentEarly(uint64_t cpu_ns);
  void PlanNext(uint64_t now_ns);
  void PlanSooner(uint64_t now_ns);
  double NextDither();

  WindowScheduleOptions options_;
  uint64_t begun_ns_;
  uint64_t refilled_ns_;
  uint64_t next_start_ns_;
  uint64_t window_ns_;
  double on_credit_ns_;
  double cpu_credit_ns_;
  double collectors_credit_ns_;
  double idle_earned_ns_ = 0;  // of idle cores, beyond the share; collectors may draw on it
  double reserve_ns_;          // of the CPU account, while the load is not steady
  double early_left_ns_;       // CPU time that early windows may still take where idle cores pay
  uint32_t idle_cpu_ppm_ = 0;
  bool steady_ = false;
  bool hurried_ = false;
  bool idle_ = false;
  uint64_t random_state_;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_SAMPLER_WINDOW_SCHEDULE_H_
