// Takes a thread out of code that may never return, by a signal once it has used its share of
// processor time. Only for code that may be left at any point: C that keeps all its state on the
// stack, takes no lock and no memory.
//
// Signal: SIGRTMIN + 6 of this process, delivered to the thread itself; the thread unblocks it.
#ifndef UTLZ_COLLECTOR_KERNEL_NAMES_PROCESSOR_ALARM_H_
#define UTLZ_COLLECTOR_KERNEL_NAMES_PROCESSOR_ALARM_H_

#include <sys/types.h>

#include <csetjmp>
#include <cstdint>

namespace utlz {

class ProcessorAlarm {
 public:
  // The calling thread's; null where the system gives no timer.
  static ProcessorAlarm* OfThisThread();

  ProcessorAlarm(const ProcessorAlarm&) = delete;
  ProcessorAlarm& operator=(const ProcessorAlarm&) = delete;
  ~ProcessorAlarm();

  // After so much processor time of this thread, siglongjmp(*leave, 1). `leave` was filled by
  // sigsetjmp(*leave, 0) in a function that has not returned.
  void Arm(sigjmp_buf* leave, int64_t processor_time_ns);
  void Disarm();

 private:
  ProcessorAlarm() = default;
  void Make();
  void Set(int64_t processor_time_ns);
  static void OnSignal(int);

  pid_t process_ = 0;  // that has the timer
  int timer_ = 0;      // the kernel's number
  bool has_timer_ = false;
};

}  // namespace utlz

#endif  // UTLZ_COLLECTOR_KERNEL_NAMES_PROCESSOR_ALARM_H_
