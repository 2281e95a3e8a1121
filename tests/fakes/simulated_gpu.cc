#include "tests/fakes/simulated_gpu.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "tests/fakes/scenario.h"

namespace utlz::fake {
namespace {

constexpr uint64_t kCapacity = uint64_t{1} << 18;
constexpr uint32_t kDevices = 16;
// Nobody comes to the second meeting after one before all have left that one.
constexpr uint64_t kMeetings = 4;

// Of every fourth collective. Both only grow.
struct Meeting {
  std::atomic<uint32_t> arrivals;
  std::atomic<uint64_t> last_start_ns;
};

struct Slot {
  std::atomic<uint64_t> number;  // index + 1 once `work` is whole
  Work work;
};

}  // namespace

struct SimulatedGpu::Shared {
  std::atomic<uint64_t> count;
  std::atomic<pid_t> counters_owner[kDevices];
  std::atomic<bool> waits_for_others[kDevices];
  Meeting meetings[kMeetings];
  Slot slots[kCapacity];
};

namespace {

// One that has ended has nothing of a device any more, also while nobody has asked how it ended.
bool Lives(pid_t pid) {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%d/stat", pid);
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return false;
  char state = 'X';
  const bool known = std::fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
  std::fclose(file);
  return known && state != 'Z' && state != 'X';
}

void WaitWhile(std::atomic<uint32_t>* number, uint32_t value) {
  syscall(SYS_futex, number, FUTEX_WAIT, value, nullptr, nullptr, 0);
}

void WakeAll(std::atomic<uint32_t>* number) {
  syscall(SYS_futex, number, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

uint64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

SimulatedGpu& SimulatedGpu::Instance() {
  static SimulatedGpu* const gpu = [] {
    const std::optional<std::string> path = ScenarioText("gpu");
    int descriptor = -1;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    if (path) {
      descriptor = open(path->c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
      if (descriptor < 0 || ftruncate(descriptor, sizeof(Shared)) != 0) {
        std::perror(path->c_str());
        std::abort();
      }
      flags = MAP_SHARED;
    }
    void* memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, descriptor, 0);
    if (descriptor >= 0) close(descriptor);
    if (memory == MAP_FAILED) {
      std::perror("mmap of the simulated GPU");
      std::abort();
    }
    return new SimulatedGpu(static_cast<Shared*>(memory));
  }();
  return *gpu;
}

void SimulatedGpu::Add(const Work& work) {
  const uint64_t index = shared_->count.fetch_add(1, std::memory_order_acq_rel);
  Slot& slot = shared_->slots[index % kCapacity];
  slot.number.store(0, std::memory_order_release);
  slot.work = work;
  slot.number.store(index + 1, std::memory_order_release);
}

uint64_t SimulatedGpu::count() const { return shared_->count.load(std::memory_order_acquire); }

bool SimulatedGpu::Get(uint64_t index, Work* work) const {
  const Slot& slot = shared_->slots[index % kCapacity];
  if (slot.number.load(std::memory_order_acquire) != index + 1) return false;
  *work = slot.work;
  return slot.number.load(std::memory_order_acquire) == index + 1;
}

bool SimulatedGpu::TakeCounters(uint32_t device, pid_t pid) {
  std::atomic<pid_t>& owner = shared_->counters_owner[device % kDevices];
  pid_t seen = owner.load();
  while (seen == 0 || !Lives(seen)) {
    if (owner.compare_exchange_weak(seen, pid)) return true;
  }
  return false;
}

void SimulatedGpu::ReleaseCounters(uint32_t device, pid_t pid) {
  shared_->counters_owner[device % kDevices].compare_exchange_strong(pid, 0);
}

uint64_t SimulatedGpu::MeetOthers(uint32_t device, uint32_t ranks, uint64_t start_ns) {
  const uint64_t number = meetings_.fetch_add(1);
  Meeting& meeting = shared_->meetings[number % kMeetings];
  const auto all = static_cast<uint32_t>((number / kMeetings + 1) * ranks);
  uint64_t last = meeting.last_start_ns.load();
  while (last < start_ns && !meeting.last_start_ns.compare_exchange_weak(last, start_ns)) {
  }
  shared_->waits_for_others[device % kDevices] = true;
  if (meeting.arrivals.fetch_add(1) + 1 == all) WakeAll(&meeting.arrivals);
  for (uint32_t seen = meeting.arrivals; seen < all; seen = meeting.arrivals) {
    WaitWhile(&meeting.arrivals, seen);
  }
  shared_->waits_for_others[device % kDevices] = false;
  return meeting.last_start_ns.load();
}

bool SimulatedGpu::WaitsForOthers(uint32_t device) const {
  return shared_->waits_for_others[device % kDevices];
}

Totals CountInterval(const std::vector<Work>& work, uint64_t start_ns, uint64_t end_ns) {
  Totals totals;
  std::vector<std::pair<uint64_t, uint64_t>> active;
  for (const Work& piece : work) {
    const uint64_t from = std::max(piece.start_ns, start_ns);
    const uint64_t until = std::min(piece.end_ns, end_ns);
    if (from >= until) continue;
    const double share =
        static_cast<double>(until - from) / static_cast<double>(piece.end_ns - piece.start_ns);
    totals.tensor_flops += share * piece.tensor_flops;
    totals.dram_read_bytes += share * piece.dram_read_bytes;
    totals.dram_write_bytes += share * piece.dram_write_bytes;
    if (piece.is_kernel != 0) active.emplace_back(from, until);
  }
  std::sort(active.begin(), active.end());
  uint64_t reached = start_ns;
  for (const auto& [from, until] : active) {
    if (until <= reached) continue;
    totals.active_ns += static_cast<double>(until - std::max(from, reached));
    reached = until;
  }
  return totals;
}

}  // namespace utlz::fake
