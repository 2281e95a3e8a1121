// Does what its standard input says, a word and a number a line, and answers each line with one of
// JSON: a program in the middle of its run, for tests that attach to it.
//   init        begins to use CUDA; it does by itself unless the argument is `later`
//   init 1      the same on another thread than the main one, which is over then
//   launch N    launches a kernel N times                          {"done":N}
//   aside N     the same on another thread
//   graph N     instantiates a graph of three kernels if there is none, and replays it N times
//   capture 1   begins to capture those three on a stream, in CUDA's strictest mode
//   capture 0   ends that and instantiates; fails if a thread did what a capture forbids
//   module N    loads N modules, and launches none of their kernels
//   second N    launches another kernel N times on a second GPU, in its primary context
//   own N       launches a third one N times in a context of the program's own
//   busy 1, 0   a thread that launches without end, on or off      {"done":launches so far}
//   busy 2      the same with many short kernels, dear to trace
//   busy 3      the same with as many that leave the GPU hardly idle
//   busy 4      the same with one short kernel after the other, and host work between two
//   haul N      launches a kernel of 1.6 s N times on a second GPU, and does not wait
//   fork 1, 0   a child that waits for its end, begun or ended     {"done":its identifier}
//   brief       a child that exits, and its end                    {"done":its status}
//   close N     closes every descriptor from N on                  {"done":N}
//   user N      works as this effective user from now on
//   load 1, 2   loads a libcupti as a framework does: by its name, or the one beside libcuda
//   cupti       {"done":what FakeCuptiSwitchedOn says; 0 where no CUPTI is loaded}
//   ranges      {"done":what FakeCuptiRangesCounting says}
//   begin       {"done":what FakeCuptiCallbacksBeingRegistered says}
//   set_up      {"done":what FakeCuptiRangesBeingSetUp says}
//   pushed      {"done":what FakeCuptiRangesPushed says}
//   count       the launches of all kinds so far, as every program prints them
//   quit        ends with status 0
//   exit        the same, by another thread
#include <dlfcn.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include "tests/programs/target.h"

namespace utlz::fake {
namespace {

constexpr size_t kTick = 3;
constexpr size_t kHum = 4;
constexpr size_t kHaul = 5;

const std::vector<KernelImage>& Kernels() {
  static const std::vector<KernelImage> kernels = [] {
    std::vector<KernelImage> made = CommonKernels();
    made.push_back({.name = "_Z4tickPf", .duration_ns = 1'000, .dram_read_bytes = 4e6});
    made.push_back({.name = "_Z3humPf", .duration_ns = 20'000, .dram_read_bytes = 4e6});
    made.push_back({.name = "_Z4haulPf", .duration_ns = 1'600'000'000, .dram_read_bytes = 4e6});
    return made;
  }();
  return kernels;
}

class Program {
 public:
  void Init() {
    if (target_ == nullptr) target_ = std::make_unique<Target>(Kernels());
  }

  void Launch(uint64_t times) {
    target_->Launch(0, times);
    target_->Synchronize();
  }

  template <typename Work>
  void Aside(const Work& work) {
    std::thread([&] {
      if (target_ != nullptr) Check(cuCtxSetCurrent(target_->context()), "cuCtxSetCurrent");
      work();
    }).join();
  }

  void InitAside() {
    Aside([this] { Init(); });
    Check(cuCtxSetCurrent(target_->context()), "cuCtxSetCurrent");
  }

  static void LoadModules(uint64_t times) {
    for (uint64_t i = 0; i < times; ++i) const Target loaded(Kernels());
  }

  void LaunchOnSecond(size_t kernel, uint64_t times, bool wait) {
    if (second_ == nullptr) second_ = std::make_unique<Target>(Kernels(), 1);
    Check(cuCtxSetCurrent(second_->context()), "cuCtxSetCurrent");
    second_->Launch(kernel, times);
    if (wait) second_->Synchronize();
    Check(cuCtxSetCurrent(target_->context()), "cuCtxSetCurrent");
  }

  void LaunchInOwn(uint64_t times) {
    if (own_ == nullptr) {
      Check(cuCtxCreate_v2(&own_, 0, 0), "cuCtxCreate");
      Check(cuStreamCreate(&own_stream_, 0), "cuStreamCreate");
    }
    Check(cuCtxSetCurrent(own_), "cuCtxSetCurrent");
    target_->Launch(2, times, own_stream_);
    target_->Synchronize();
    Check(cuCtxSetCurrent(target_->context()), "cuCtxSetCurrent");
  }

  void Replay(uint64_t times) {
    if (exec_ == nullptr) {
      // The busy thread may synchronize meanwhile, which a global capture forbids to all threads.
      BeginCapture(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
      EndCapture();
    }
    for (uint64_t i = 0; i < times; ++i) Check(cuGraphLaunch(exec_, stream_), "cuGraphLaunch");
    for (const size_t kernel : {0, 1, 2}) {
      target_->expectation.CountLaunches(target_->Image(kernel), times);
    }
    Check(cuStreamSynchronize(stream_), "cuStreamSynchronize");
  }

  void BeginCapture(CUstreamCaptureMode mode) {
    Check(cuStreamCreate(&stream_, 0), "cuStreamCreate");
    Check(cuStreamBeginCapture_v2(stream_, mode), "cuStreamBeginCapture");
    for (const size_t kernel : {0, 1, 2}) {
      Check(cuLaunchKernel(target_->Function(kernel), 8, 1, 1, 64, 1, 1, 0, stream_, nullptr,
                           nullptr),
            "cuLaunchKernel");
    }
  }

  void EndCapture() {
    CUgraph graph = nullptr;
    Check(cuStreamEndCapture(stream_, &graph), "cuStreamEndCapture");
    Check(cuGraphInstantiateWithFlags(&exec_, graph, 0), "cuGraphInstantiate");
    Check(cuGraphDestroy(graph), "cuGraphDestroy");
  }

  uint64_t SetBusy(uint64_t how) {
    if (how != 0 && !thread_.joinable()) {
      const size_t kernel = how == 1 ? 2 : how == 3 ? kHum : kTick;
      const uint64_t launches = how == 1 ? 10 : how == 4 ? 1 : 50;
      stop_ = false;
      thread_ = std::thread([this, kernel, launches] {
        Check(cuCtxSetCurrent(target_->context()), "cuCtxSetCurrent");
        while (!stop_) {
          target_->Launch(kernel, launches);
          target_->Synchronize();
          busy_launches_ += launches;
          std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
      });
    } else if (how == 0 && thread_.joinable()) {
      stop_ = true;
      thread_.join();
    }
    return busy_launches_;
  }

  uint64_t Fork(bool begin) {
    if (!begin) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
      return 0;
    }
    // The answer comes once the child has run what it runs at a fork.
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    child_ = fork();
    if (child_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      close(ends[1]);
      for (;;) pause();
    }
    close(ends[1]);
    char nothing = 0;
    if (read(ends[0], &nothing, 1) != 0) std::abort();
    close(ends[0]);
    return static_cast<uint64_t>(child_);
  }

  static uint64_t ForkBriefly() {
    const pid_t child = fork();
    if (child == 0) std::exit(0);
    int status = -1;
    waitpid(child, &status, 0);
    return static_cast<uint64_t>(status);
  }

  static void LoadCupti(bool beside_driver) {
    Dl_info driver;
    std::string path = "libcupti.so.13";
    if (beside_driver && dladdr(dlsym(RTLD_DEFAULT, "cuInit"), &driver) != 0) {
      path = std::filesystem::path(driver.dli_fname).replace_filename(path);
    }
    if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) std::abort();
  }

  static uint64_t AskCupti(const char* what) {
    void* library = dlopen("libcupti.so.13", RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) return 0;
    const auto ask = reinterpret_cast<uint32_t (*)()>(dlsym(library, what));
    const uint64_t count = ask();
    dlclose(library);
    return count;
  }

  void Count() const { target_->expectation.Print(); }

 private:
  std::unique_ptr<Target> target_;
  std::unique_ptr<Target> second_;
  CUcontext own_ = nullptr;
  CUstream own_stream_ = nullptr;
  CUstream stream_ = nullptr;
  CUgraphExec exec_ = nullptr;
  pid_t child_ = -1;
  std::thread thread_;
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> busy_launches_{0};
};

void Answer(uint64_t done) {
  std::printf("{\"done\":%llu}\n", static_cast<unsigned long long>(done));
  std::fflush(stdout);
}

int Run(bool later) {
  Program program;
  if (!later) program.Init();
  Answer(0);
  std::string line;
  while (std::getline(std::cin, line)) {
    const size_t space = line.find(' ');
    const std::string word = line.substr(0, space);
    const uint64_t number = space == std::string::npos ? 0 : std::stoull(line.substr(space));
    if (word == "quit") break;
    if (word == "exit") program.Aside([] { std::exit(0); });
    if (word == "count") {
      program.Count();
      continue;
    }
    uint64_t done = number;
    if (word == "init") number == 0 ? program.Init() : program.InitAside();
    if (word == "launch") program.Launch(number);
    if (word == "haul") program.LaunchOnSecond(kHaul, number, /*wait=*/false);
    if (word == "aside") program.Aside([&] { program.Launch(number); });
    if (word == "graph") program.Replay(number);
    if (word == "capture")
      number != 0 ? program.BeginCapture(CU_STREAM_CAPTURE_MODE_GLOBAL) : program.EndCapture();
    if (word == "module") Program::LoadModules(number);
    if (word == "second") program.LaunchOnSecond(1, number, /*wait=*/true);
    if (word == "own") program.LaunchInOwn(number);
    if (word == "fork") done = program.Fork(number != 0);
    if (word == "brief") done = Program::ForkBriefly();
    if (word == "load") Program::LoadCupti(number == 2);
    if (word == "cupti") done = Program::AskCupti("FakeCuptiSwitchedOn");
    if (word == "ranges") done = Program::AskCupti("FakeCuptiRangesCounting");
    if (word == "begin") done = Program::AskCupti("FakeCuptiCallbacksBeingRegistered");
    if (word == "set_up") done = Program::AskCupti("FakeCuptiRangesBeingSetUp");
    if (word == "pushed") done = Program::AskCupti("FakeCuptiRangesPushed");
    if (word == "user" && seteuid(static_cast<uid_t>(number)) != 0) std::abort();
    if (word == "close") syscall(SYS_close_range, number, ~0u, 0);
    if (word == "busy") done = program.SetBusy(number);
    Answer(done);
  }
  program.SetBusy(0);
  return 0;
}

}  // namespace
}  // namespace utlz::fake

int main(int argc, char** argv) {
  return utlz::fake::Run(argc > 1 && std::string(argv[1]) == "later");
}
