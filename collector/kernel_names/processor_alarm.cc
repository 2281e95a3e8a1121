#include "collector/kernel_names/processor_alarm.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace utlz {
namespace {

int Signal() { return SIGRTMIN + 6; }

// Where the handler leaves to; null while nothing is armed. Volatile: the handler reads it.
thread_local sigjmp_buf* volatile leave_to = nullptr;

// Not blocked while it is handled, since the handler does not return.
bool Handle(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_NODEFER | SA_RESTART;
  return sigaction(Signal(), &action, nullptr) == 0;
}

}  // namespace

ProcessorAlarm* ProcessorAlarm::OfThisThread() {
  thread_local ProcessorAlarm alarm;
  if (alarm.process_ != getpid()) alarm.Make();  // a child of fork inherits no timer
  return alarm.has_timer_ ? &alarm : nullptr;
}

void ProcessorAlarm::Make() {
  process_ = getpid();
  static const bool handled = Handle(&OnSignal);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, Signal());
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = Signal();
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  // By system call: before glibc 2.34 these functions are in a library of their own, librt.
  has_timer_ = handled && pthread_sigmask(SIG_UNBLOCK, &signals, nullptr) == 0 &&
               syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer_) == 0;
}

ProcessorAlarm::~ProcessorAlarm() {
  if (has_timer_) syscall(SYS_timer_delete, timer_);
}

void ProcessorAlarm::Arm(sigjmp_buf* leave, int64_t processor_time_ns) {
  leave_to = leave;
  Set(processor_time_ns);
}

void ProcessorAlarm::Disarm() {
  leave_to = nullptr;
  Set(0);
}

void ProcessorAlarm::Set(int64_t processor_time_ns) {
  constexpr int64_t kSecondNs = 1'000'000'000;
  itimerspec time{};
  time.it_value = {processor_time_ns / kSecondNs, processor_time_ns % kSecondNs};
  syscall(SYS_timer_settime, timer_, 0, &time, nullptr);
}

void ProcessorAlarm::OnSignal(int) {
  sigjmp_buf* const leave = leave_to;
  if (leave == nullptr) return;
  leave_to = nullptr;
  siglongjmp(*leave, 1);
}

}  // namespace utlz
