// The target programs: one small function for each state or hazard that an attach can meet. Each
// runs until Control().stop, checks itself all the while, and returns the exit status: 0 if
// nothing that it can see was disturbed.
#ifndef UTLZ_TESTS_ATTACH_TARGET_PROGRAMS_H_
#define UTLZ_TESTS_ATTACH_TARGET_PROGRAMS_H_

#include <array>

namespace utlz::attach {

struct TargetProgram {
  const char* name;
  int (*run)();
};

// Standard input is a socket over which the test sends a byte to wake a wait.

// Waits in which a thread may be lent, each checked for a wrong result (wait_programs.cc).
int EpollWithoutTimeout();
int EpollWithShortTimeout();
int EpollAfterSignalMask();
int PollForever();
int PollWithTimeout();
int SelectForever();
int ReadInput();
int ReceiveInput();
int AcceptConnection();
int PauseUntilSignal();
int RelativeSleep();
int AbsoluteSleep();
int LiveRegisters();   // register_program.cc
int ErrnoAndDlerror();
int OldTraces();

// Work in which none may, or only at times (busy_programs.cc).
int ComputeOnly();
int AllocateOnly();
int AllocateAndSleep();
int OpenLibrariesOnly();
int OpenLibrariesAndSleep();
int WaitOnFutex();
int ForkAndAllocate();

// States of the process (hazard_programs.cc, isolation_programs.cc).
int ReadInSignalHandler();
int ReadInConstructor();
int VforkParent();
int TimerSignals();
int ChangeUserIds();
int CloseRangeForever();
int ReuseDescriptors();
int NoDescriptorsLeft();
int NoMemoryLeft();
int TightMemory();
int ChrootWithoutProc();
int ChrootWithProc();
int OwnNamespaces();
int PermissiveSeccomp();
int ForbiddingSeccomp();
int KillingSeccomp();

// Says that the hazard has been reached.
void Ready();
bool MayGoOn();
void Progress();

}  // namespace utlz::attach

#endif  // UTLZ_TESTS_ATTACH_TARGET_PROGRAMS_H_
