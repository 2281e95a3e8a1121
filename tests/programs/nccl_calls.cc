// Speaks NVTX as NCCL does: a domain "NCCL", registered names, schemas of its own numbers, sizes at
// the begin of a range and the communicator at the end of another, groups. Kernels are named as
// NCCL's; the GPU is simulated, and nothing is exchanged. With "old" as NCCL 2.18 speaks: no
// communicators, and ranks at the begin. The line before the expectation says what was sent:
// {"sizes":{"AllReduce":{"launches":…,"bytes":…,"link_bytes":…}}}.
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "tests/programs/nvtx_client.h"
#include "tests/programs/target.h"

namespace utlz::fake {
namespace {

constexpr int kRanks = 4;
constexpr int kSteps = 10;
constexpr uint64_t kCommunicator = 0xfeedfacecafebeefu;
constexpr char kBytesName[] = "Message size [bytes]";

enum KernelIndex : size_t { kGemm, kAllReduce, kAllGather, kReduceScatter, kSendRecv };

const std::vector<KernelImage>& Kernels() {
  static const auto* const kernels = [] {
    auto* made = new std::vector<KernelImage>(5, CommonKernels()[0]);
    (*made)[kAllReduce].name = "_Z40ncclDevKernel_AllReduce_Sum_bf16_RING_LL24ncclDevKernelArgs";
    (*made)[kAllGather].name = "_Z31ncclDevKernel_AllGather_RING_LL24ncclDevKernelArgs";
    (*made)[kReduceScatter].name =
        "_Z44ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL24ncclDevKernelArgs";
    (*made)[kSendRecv].name = "_Z22ncclDevKernel_SendRecv24ncclDevKernelArgs";
    return made;
  }();
  return *kernels;
}

struct NewPayload {
  uint64_t communicator;
  size_t bytes;
  int operation;
};
struct OldPayload {
  size_t bytes;
  int operation;
};
struct NewRanks {
  uint64_t communicator;
  int ranks, rank, device;
};
struct OldRanks {
  int rank, ranks, device;
};

class Library {
 public:
  explicit Library(bool old) : old_(old), domain_(NvtxCreateDomain("NCCL")) {}

  void Init() {
    // A name that is given as text, and has no handle.
    NvtxDomainPush(domain_, "ncclAllReduce");
    NvtxDomainPop(domain_);
    const NvtxString name = NvtxRegisterString(domain_, "ncclCommInitRankConfig");
    if (old_) {
      static const NvtxSchemaEntry entries[] = {
          {0, kNvtxEntryInt, "Rank"},
          {0, kNvtxEntryInt, "No. of ranks", nullptr, 0, offsetof(OldRanks, ranks)},
          {0, kNvtxEntryInt, "CUDA device", nullptr, 0, offsetof(OldRanks, device)}};
      NvtxRegisterSchema(domain_, entries, 3, kNvtxEntryFirstStatic, 0);
      const OldRanks ranks = {0, kRanks, 0};
      const NvtxPayloadData payload = {kNvtxEntryFirstStatic, sizeof(ranks), &ranks};
      NvtxDomainPushRegistered(domain_, name, &payload);
      NvtxDomainPop(domain_);
      return;
    }
    NvtxDomainPushRegistered(domain_, name, nullptr);
    static const NvtxSchemaEntry entries[] = {
        {0, kNvtxEntryUint64, "NCCL communicator ID"},
        {0, kNvtxEntryInt, "No. of ranks", nullptr, 0, offsetof(NewRanks, ranks)},
        {0, kNvtxEntryInt, "Rank", nullptr, 0, offsetof(NewRanks, rank)}};
    NvtxRegisterSchema(domain_, entries, 3, kNvtxEntryFirstStatic, sizeof(NewRanks));
    const NewRanks ranks = {kCommunicator, kRanks, 0, 0};
    NvtxDomainPopPayload(domain_, {kNvtxEntryFirstStatic, sizeof(ranks), &ranks});
  }

  // `launch` runs inside the range, as NCCL's launches do outside of groups. Without a function the
  // range has no name.
  template <typename Launch>
  void Call(const char* function, uint64_t number, size_t bytes, Launch launch) {
    const NvtxString name = function == nullptr ? nullptr : NvtxRegisterString(domain_, function);
    const uint64_t schema = kNvtxEntryFirstStatic + number;
    NewPayload values = {kCommunicator, bytes, 0};
    OldPayload old_values = {bytes, 0};
    if (old_) {
      static const NvtxSchemaEntry entries[] = {
          {0, kNvtxEntrySize, kBytesName},
          {0, kNvtxEntryFirstStatic + 99, "Reduction operation", nullptr, 0,
           offsetof(OldPayload, operation)}};
      NvtxRegisterSchema(domain_, entries, 2, schema, 0);
    } else {
      static const NvtxSchemaEntry entries[] = {
          {0, kNvtxEntryUint64, "NCCL communicator ID"},
          {0, kNvtxEntrySize, kBytesName, nullptr, 0, offsetof(NewPayload, bytes)},
          {0, kNvtxEntryFirstStatic + 99, "Reduction operation", nullptr, 0,
           offsetof(NewPayload, operation)}};
      NvtxRegisterSchema(domain_, entries, 3, schema, sizeof(NewPayload));
    }
    const NvtxPayloadData payload = {schema, old_ ? sizeof(old_values) : sizeof(values),
                                     old_ ? static_cast<const void*>(&old_values) : &values};
    NvtxDomainPushRegistered(domain_, name, &payload);
    launch();
    NvtxDomainPop(domain_);
  }

  template <typename Launch>
  void Plain(const char* function, Launch launch) {
    NvtxDomainPushRegistered(domain_, NvtxRegisterString(domain_, function), nullptr);
    launch();
    NvtxDomainPop(domain_);
  }

 private:
  bool old_;
  NvtxDomain domain_;
};

constexpr size_t kReduceBytes = 25 << 20;
constexpr size_t kShareBytes = 3 << 20;
constexpr size_t kPeerBytes = 1000;

void Step(Library* library, Target* target) {
  const auto nothing = [] {};
  target->Launch(kGemm, 2);
  library->Call("ncclAllReduce", 5, kReduceBytes, [&] { target->Launch(kAllReduce); });
  target->Launch(kGemm);
  library->Call("ncclAllGather", 4, kShareBytes, [&] { target->Launch(kAllGather); });
  // Two of a kind in a group are one kernel, launched at its end.
  library->Plain("ncclGroupStart", nothing);
  library->Call("ncclReduceScatter", 7, kShareBytes, nothing);
  library->Call("ncclReduceScatter", 7, kShareBytes, nothing);
  library->Plain("ncclGroupEnd", [&] { target->Launch(kReduceScatter); });
  // A send opens a group of its own inside the program's.
  library->Plain("ncclGroupStart", nothing);
  library->Call("ncclSend", 9, kPeerBytes, [&] {
    library->Plain("ncclGroupStart", nothing);
    library->Plain("ncclGroupEnd", nothing);
  });
  library->Call("ncclRecv", 10, kPeerBytes, nothing);
  library->Plain("ncclGroupEnd", [&] { target->Launch(kSendRecv); });
  // Of no function that is known, as a replayed graph's are of none.
  library->Call(nullptr, 5, kReduceBytes, [&] { target->Launch(kAllReduce); });
  target->Synchronize();
}

int Run(bool old) {
  Target target(Kernels());
  Library library(old);
  library.Init();
  for (int step = 0; step < kSteps; ++step) Step(&library, &target);
  const double whole = double{kShareBytes} * kRanks * kSteps;
  std::printf(
      "{\"sizes\":{\"AllReduce\":{\"launches\":%d,\"bytes\":%.0f,\"link_bytes\":%.0f},"
      "\"AllGather\":{\"launches\":%d,\"bytes\":%.0f,\"link_bytes\":%.0f},"
      "\"ReduceScatter\":{\"launches\":%d,\"bytes\":%.0f,\"link_bytes\":%.0f},"
      "\"SendRecv\":{\"launches\":%d,\"bytes\":%.0f,\"link_bytes\":%.0f}}}\n",
      kSteps, double{kReduceBytes} * kSteps, double{kReduceBytes} * kSteps * 2 * 3 / 4, kSteps,
      whole, whole * 3 / 4, kSteps, 2 * whole, 2 * whole * 3 / 4, kSteps,
      double{kPeerBytes} * kSteps, double{kPeerBytes} * kSteps);
  std::fflush(stdout);
  target.expectation.Print();
  return 0;
}

}  // namespace
}  // namespace utlz::fake

int main(int count, char** arguments) {
  return utlz::fake::Run(count > 1 && std::strcmp(arguments[1], "old") == 0);
}
