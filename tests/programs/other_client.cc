// Another client of CUPTI in the process, as torch.profiler is one: it takes
// the process-wide buffer callbacks for a window of the run and counts its own kernel records in
// it. Ends with status 5 if its own trace is incomplete, 9 if what it did not ask for is in it. The
// line before the expectation says how many launches were in its window: {"taken":…}. Arguments:
// how it calls CUPTI, and the seconds of work after its window:
//   imported   functions that it is linked to, as libtorch does
//   clocked    the same, and CUPTI has a clock of its from then on, as with torch.profiler
//   short      the same, for less time than the agent needs to notice
//   torn_down  the same, and cuptiFinalize a while after its window
//   stored     found with dlsym and kept in a static variable, as Proton does
//   looked_up  found with dlsym and kept on the stack, where nobody can see them
//   subscribing  as imported, once another client has subscribed to CUPTI's callbacks, which it
//   then
//              does itself; ends with status 6 where nobody did in ten seconds, 7 where it cannot
//   shut_out   as imported, where the driver serves another libcupti than its own: ends with status
//              8 where it sees any record all the same
//   told       as imported, but a line of standard input ends the window, another one the program;
//              {"done":…} says that the window has begun, and that it has ended
//   later      the same, but another line begins the window
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <thread>

#include "tests/fakes/cupti_records.h"
#include "tests/fakes/simulated_gpu.h"
#include "tests/programs/target.h"

namespace utlz::fake {
namespace {

extern "C" {
int cuptiActivityRegisterCallbacks(void (*request)(uint8_t**, size_t*, size_t*),
                                   void (*complete)(void*, uint32_t, uint8_t*, size_t, size_t));
int cuptiActivityEnable(uint32_t kind);
int cuptiActivityDisable(uint32_t kind);
int cuptiActivityFlushAll(uint32_t flag);
int cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid_bytes, uint8_t** record);
int cuptiFinalize();
int cuptiSubscribe(const void** subscriber,
                   void (*callback)(void*, uint32_t, uint32_t, const void*), void* user);
int cuptiUnsubscribe(const void* subscriber);
int cuptiActivityRegisterTimestampCallback(uint64_t (*ticks)());
}

constexpr size_t kBufferBytes = 1 << 20;
std::atomic<uint64_t> records_seen{0};
std::atomic<uint64_t> unwanted_seen{0};  // calls and loads, which it never asked for

struct Cupti {
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks;
  decltype(&cuptiActivityEnable) enable;
  decltype(&cuptiActivityDisable) disable;
  decltype(&cuptiActivityFlushAll) flush_all;
  decltype(&cuptiActivityGetNextRecord) next_record;
};

template <typename Function>
void Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  if (*function == nullptr) std::_Exit(4);
}

Cupti LookUp() {
  // The copy that is loaded already: never a second one.
  void* library = dlopen("libcupti.so.13", RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) std::_Exit(4);
  Cupti found{};
  Find(library, "cuptiActivityRegisterCallbacks", &found.register_callbacks);
  Find(library, "cuptiActivityEnable", &found.enable);
  Find(library, "cuptiActivityDisable", &found.disable);
  Find(library, "cuptiActivityFlushAll", &found.flush_all);
  Find(library, "cuptiActivityGetNextRecord", &found.next_record);
  return found;
}

void Request(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = kBufferBytes;
  *max_records = 0;
}

// A client that nobody can watch cannot be spared the buffers that others gave; torch.profiler and
// whoever else is linked to CUPTI knows its own alone, and loses what is in them.
std::atomic<bool> takes_foreign_buffers{false};

void Complete(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid_bytes) {
  const bool foreign = size != kBufferBytes;
  if (foreign && !takes_foreign_buffers) return;
  uint8_t* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == 0) {
    const uint32_t kind = *reinterpret_cast<const uint32_t*>(record);
    if (kind == kActivityConcurrentKernel) ++records_seen;
    if (kind == kActivityDriver || kind == kActivityOverhead) ++unwanted_seen;
  }
  if (!foreign) std::free(buffer);
}

// As long as a few training steps.
constexpr uint64_t kWindowNs = 300'000'000;
constexpr uint64_t kShortWindowNs = 2'000'000;

using Condition = std::function<bool()>;

Condition TimeIsOver(uint64_t duration_ns) {
  return [end_ns = NowNs() + duration_ns] { return NowNs() >= end_ns; };
}

// The lines of standard input, read by a thread that does nothing else.
std::atomic<int> lines_read{0};

void ReadInput() {
  std::thread([] {
    for (std::string line; std::getline(std::cin, line);) ++lines_read;
    lines_read = 3;
  }).detach();
}

Condition LinesAreRead(int lines) {
  return [lines] { return lines_read >= lines; };
}

void Answer(uint64_t done) {
  std::printf("{\"done\":%llu}\n", static_cast<unsigned long long>(done));
  std::fflush(stdout);
}

uint64_t LaunchUntil(const Condition& over, Target* target) {
  uint64_t launches = 0;
  do {
    target->Launch(2, 10);
    target->Synchronize();
    launches += 10;
  } while (!over());
  return launches;
}

// Called by their names, so that this program's own import slots are used.
void BeginImported() {
  cuptiActivityRegisterCallbacks(Request, Complete);
  cuptiActivityEnable(kActivityConcurrentKernel);
}

void EndImported() {
  cuptiActivityFlushAll(0);
  cuptiActivityDisable(kActivityConcurrentKernel);
  cuptiActivityFlushAll(1);
}

uint64_t TraceImported(Target* target, uint64_t window_ns) {
  BeginImported();
  const Target loads_a_module(CommonKernels());
  target->Launch(0);  // for the first time
  const uint64_t launches = LaunchUntil(TimeIsOver(window_ns), target);
  EndImported();
  return launches;
}

void Ignore(void*, uint32_t, uint32_t, const void*) {}

// Found with dlsym: nobody sees it try.
bool IsSubscribedTo() {
  void* library = dlopen("libcupti.so.13", RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiUnsubscribe) unsubscribe = nullptr;
  Find(library, "cuptiSubscribe", &subscribe);
  Find(library, "cuptiUnsubscribe", &unsubscribe);
  const void* subscriber = nullptr;
  if (subscribe(&subscriber, Ignore, nullptr) != 0) return true;
  unsubscribe(subscriber);
  return false;
}

uint64_t SubscribeAndTrace(Target* target) {
  const Condition over = TimeIsOver(10'000'000'000);
  while (!IsSubscribedTo()) {
    if (over()) std::_Exit(6);
    target->Launch(1, 10);
    target->Synchronize();
  }
  const void* subscriber = nullptr;
  if (cuptiSubscribe(&subscriber, Ignore, nullptr) != 0) std::_Exit(7);
  const uint64_t launches = TraceImported(target, kWindowNs);
  cuptiUnsubscribe(subscriber);
  return launches;
}

uint64_t TraceAsTold(Target* target, int begin_line) {
  ReadInput();
  if (begin_line > 0) Answer(0);
  LaunchUntil(LinesAreRead(begin_line), target);
  BeginImported();
  Answer(0);
  const uint64_t launches = LaunchUntil(LinesAreRead(begin_line + 1), target);
  EndImported();
  Answer(launches);
  return launches;
}

// Cycles of a processor that has been up for a minute.
uint64_t Cycles() {
  static const uint64_t begin_ns = NowNs();
  return 126'000'000'000 + static_cast<uint64_t>(2.1 * static_cast<double>(NowNs() - begin_ns));
}

// As torch.profiler does with TEARDOWN_CUPTI=1: at some later call of the program's.
uint64_t TraceAndTearDown(Target* target) {
  const uint64_t launches = TraceImported(target, kWindowNs);
  target->Launch(1, 100);
  target->Synchronize();
  cuptiFinalize();
  return launches;
}

uint64_t TraceThrough(const volatile Cupti& cupti, Target* target) {
  cupti.register_callbacks(Request, Complete);
  cupti.enable(kActivityConcurrentKernel);
  const uint64_t launches = LaunchUntil(TimeIsOver(kWindowNs), target);
  cupti.flush_all(0);
  cupti.disable(kActivityConcurrentKernel);
  cupti.flush_all(1);
  return launches;
}

uint64_t Trace(const std::string& way, Target* target) {
  if (way == "torn_down") return TraceAndTearDown(target);
  if (way == "clocked") cuptiActivityRegisterTimestampCallback(Cycles);
  if (way == "imported" || way == "clocked" || way == "shut_out")
    return TraceImported(target, kWindowNs);
  if (way == "short") return TraceImported(target, kShortWindowNs);
  if (way == "subscribing") return SubscribeAndTrace(target);
  if (way == "told") return TraceAsTold(target, 0);
  if (way == "later") return TraceAsTold(target, 1);
  static Cupti stored;
  takes_foreign_buffers = true;
  const Cupti found = LookUp();
  if (way == "looked_up") return TraceThrough(found, target);
  stored = found;
  return TraceThrough(stored, target);
}

int Run(const std::string& way, double seconds_after) {
  Target target(CommonKernels());
  target.Launch(1, 50);
  target.Synchronize();
  const uint64_t taken = Trace(way, &target);
  if (way == "shut_out") {
    if (records_seen.load() > 0) return 8;
  } else if (records_seen.load() < taken) {
    std::fprintf(stderr, "the other client saw %llu records of %llu\n",
                 static_cast<unsigned long long>(records_seen.load()),
                 static_cast<unsigned long long>(taken));
    return 5;
  }
  if (!takes_foreign_buffers && unwanted_seen.load() > 0) return 9;
  // Long enough for an agent that looks about once a second to resume.
  const Condition over = way == "told"    ? LinesAreRead(2)
                         : way == "later" ? LinesAreRead(3)
                                          : TimeIsOver(static_cast<uint64_t>(seconds_after * 1e9));
  while (!over()) {
    target.Launch(1, 20);
    target.Synchronize();
  }
  std::printf("{\"taken\":%llu}\n", static_cast<unsigned long long>(taken));
  std::fflush(stdout);
  target.expectation.Print();
  return 0;
}

}  // namespace
}  // namespace utlz::fake

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "imported";
  return utlz::fake::Run(way, argc > 2 ? std::atof(argv[2]) : 3.0);
}
