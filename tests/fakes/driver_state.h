// The objects behind the driver's handles, and the state that its functions share.
#ifndef UTLZ_TESTS_FAKES_DRIVER_STATE_H_
#define UTLZ_TESTS_FAKES_DRIVER_STATE_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tests/fakes/cuda_types.h"
#include "tests/fakes/observer.h"

namespace utlz::fake {

struct Context;

struct Stream {
  Context* context;
  uint32_t id;
  int priority;
  std::atomic<uint64_t> tail_ns{0};  // when the last work on it ends
  CUgraph capture = nullptr;
  bool captures_globally = false;
};

struct Context {
  uint32_t id;
  CUdevice device;
  bool primary;
  std::atomic<int> primary_uses{0};
  Stream null_stream;
  std::set<Stream*> streams;
};

struct Function {
  uint32_t module = 0;
  const KernelImage* image = nullptr;
  mutable std::atomic<bool> loaded{false};  // as lazily as by default: for its first launch
};

struct Module {
  uint32_t id;
  std::list<std::pair<std::string, KernelImage>> compiled;  // of PTX, by name
  std::map<std::string, std::unique_ptr<Function>> functions;
};

struct Event {
  uint64_t time_ns = 0;
};

// One launch's shape and work.
struct LaunchShape {
  const Function* function;
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t cluster[3] = {0, 0, 0};
  uint32_t dynamic_shared_bytes;
  bool cooperative = false;
};

// Everything that outlives a call. Leaked on purpose: programs use CUDA from threads that still run
// at exit.
class DriverState {
 public:
  static DriverState& Instance();

  std::mutex mutex;  // guards the containers, never held while an observer runs
  std::map<CUdevice, Context*> primary_contexts;
  std::set<Context*> contexts;
  std::atomic<uint32_t> next_context_id{1};
  std::atomic<uint32_t> next_stream_id{7};
  std::atomic<uint32_t> next_module_id{1};
  std::atomic<uint32_t> next_graph_id{1};
  std::atomic<uint64_t> next_grid_id{1};
  std::atomic<uint32_t> next_correlation{1};
  std::atomic<pid_t> initialized_pid{0};
  std::atomic<const Observer*> observer{nullptr};
};

// The context that is current on this thread, or nullptr.
Context* CurrentContext();
// The stream that a handle names: null handles and the legacy ones are the context's own.
Stream* FindStream(CUstream handle);
bool Ready();

Context* FromHandle(CUcontext handle);
CUcontext ToHandle(Context* context);
CUstream ToHandle(Stream* stream);

// Reports one driver call to the observer: entry when made, exit when destroyed.
class ApiScope {
 public:
  ApiScope(uint32_t callback_id, const char* name, const void* params);
  ~ApiScope();
  ApiScope(const ApiScope&) = delete;
  ApiScope& operator=(const ApiScope&) = delete;

  // A call that launches nothing has a number only where it is watched, as on the device.
  uint32_t correlation();
  CUresult Return(CUresult result) {
    result_ = result;
    return result;
  }

 private:
  ApiCall call_ = {};
  CUresult result_ = CUDA_SUCCESS;
  uint64_t correlation_data_ = 0;
  bool called_back_ = false;  // as it was entered
  static thread_local uint32_t kept_number_;

  static bool MustKeepNumber();
  void TakeItsTime() const;
};

void NotifyResource(uint32_t callback_id, Context* context, Stream* stream, const void* descriptor);

// Puts work of `duration_ns` on a stream's timeline and says when it runs.
struct Interval {
  uint64_t start_ns;
  uint64_t end_ns;
};
Interval Schedule(Stream* stream, uint64_t duration_ns);
// Of a collective: waits for the other ranks' launches.
Interval ScheduleTogether(Stream* stream, uint64_t duration_ns, uint32_t ranks);
void WaitUntil(uint64_t time_ns);

// Runs a kernel, a copy or a set on a stream and tells the observer and the simulated GPU.
struct GraphPlace {
  uint64_t node = 0;
  uint32_t graph = 0;
};
void RunKernel(Stream* stream, const LaunchShape& shape, uint32_t correlation, GraphPlace place);
void RunSet(Stream* stream, uint64_t bytes, uint32_t value, uint32_t correlation, bool asynchronous,
            GraphPlace place);

// The result that FakeCudaFailNextCall arranged for this thread, once.
CUresult TakeArrangedFailure();
RecordFate CurrentFate();

// Captures in the mode in which no thread may do what could synchronize with them, unless it has
// said that it knows what it does (cuThreadExchangeStreamCaptureMode).
struct Captures {
  static Captures& Instance();
  std::atomic<int> open{0};
  std::atomic<bool> invalidated{false};
};
// By calls that such a capture forbids.
void NoteUnsafeCall();

// Stream capture: adds to the graph instead of running.
void CaptureKernel(CUgraph graph, const LaunchShape& shape);

}  // namespace utlz::fake

#endif  // UTLZ_TESTS_FAKES_DRIVER_STATE_H_
