#include "tests/unit/kernel_code/simulated_kernel.h"

#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "tests/support/machine_code.h"

namespace utlz {
namespace {

constexpr uint32_t kPredicates = 4;
constexpr std::array<uint32_t, 8> kOpcodes = {kFmul,  kFadd, kFfma, kImad,
                                              kIadd3, kMufu, kLdg,  kHfma2Mma};

}  // namespace

// A sequence of parts, each with its own parts.
struct SimulatedKernel::Node {
  enum Kind { kSequence, kInstruction, kSetPredicate, kIf, kLoop, kCall, kExit };
  Kind kind = kSequence;
  uint32_t opcode = 0;
  uint32_t guard = kNoGuard;  // of kIf and kLoop the predicate
  double share = 0.5;         // of lanes for which a predicate becomes true
  std::vector<std::shared_ptr<Node>> parts = {};
  std::shared_ptr<Node> other = nullptr;  // of kIf: where it does not hold
  bool joins = true;                      // of kIf: lanes that part wait for each other
};

namespace {

struct Builder {
  std::mt19937& random;
  CodeWriter code = {};
  // Calls, and where the address behind them is put.
  std::vector<std::pair<uint32_t, uint32_t>> calls = {};
  uint32_t depth = 0;

  uint32_t Below(uint32_t end) { return static_cast<uint32_t>(random() % end); }
  double Share() { return std::array{0.0, 0.02, 0.5, 0.98, 1.0}[Below(5)]; }
};

template <typename Node>
std::shared_ptr<Node> MakeSequence(Builder* builder, int size, bool calls);

template <typename Node>
std::shared_ptr<Node> MakeNode(Builder* builder, int size, bool calls) {
  auto node = std::make_shared<Node>();
  node->guard = builder->Below(kPredicates);
  node->share = builder->Share();
  switch (builder->Below(size > 1 && builder->depth < 4 ? 12 : 7)) {
    case 7:
    case 8:
      node->kind = Node::kIf;
      ++builder->depth;
      node->parts = {MakeSequence<Node>(builder, size / 2, calls)};
      node->other = MakeSequence<Node>(builder, size / 2, calls);
      node->joins = builder->Below(4) > 0;
      --builder->depth;
      return node;
    case 9:
      node->kind = Node::kLoop;
      ++builder->depth;
      node->share = 0.6 * builder->Share();
      node->parts = {MakeSequence<Node>(builder, size / 2, calls)};
      --builder->depth;
      return node;
    case 10:
      node->kind = calls ? Node::kCall : Node::kSetPredicate;
      return node;
    case 11:
      node->kind = Node::kExit;
      return node;
    case 0:
      node->kind = Node::kSetPredicate;
      return node;
    default:
      node->kind = Node::kInstruction;
      node->opcode = kOpcodes[builder->Below(kOpcodes.size())];
      node->guard = builder->Below(2) == 0
                        ? kNoGuard
                        : builder->Below(kPredicates) | (builder->Below(2) == 0 ? kNot : 0);
      return node;
  }
}

template <typename Node>
std::shared_ptr<Node> MakeSequence(Builder* builder, int size, bool calls) {
  auto node = std::make_shared<Node>();
  const uint32_t parts = 1 + builder->Below(5);
  for (uint32_t part = 0; part < parts; ++part) {
    node->parts.push_back(MakeNode<Node>(builder, size, calls));
  }
  return node;
}

template <typename Node>
void Write(const Node& node, Builder* builder) {
  CodeWriter& code = builder->code;
  switch (node.kind) {
    case Node::kSequence:
      for (const auto& part : node.parts) Write(*part, builder);
      return;
    case Node::kInstruction:
      code.Add(node.opcode, node.guard);
      return;
    case Node::kSetPredicate:
      code.AddSetPredicate(node.guard);
      return;
    case Node::kIf: {
      const uint32_t barrier = builder->depth++;
      const uint32_t region = node.joins ? code.AddRegion(barrier) : 0;
      const uint32_t over = code.AddBranch(node.guard | kNot);
      Write(*node.parts[0], builder);
      const uint32_t join = code.AddBranch();
      code.SetTarget(over, code.size());
      Write(*node.other, builder);
      code.SetTarget(join, code.size());
      if (node.joins) {
        code.AddWait(barrier);
        code.SetTarget(region, code.size());
      }
      --builder->depth;
      return;
    }
    case Node::kLoop: {
      const uint32_t barrier = builder->depth++;
      const uint32_t region = code.AddRegion(barrier);
      const uint32_t top = code.size();
      Write(*node.parts[0], builder);
      code.AddSetPredicate(node.guard);
      code.SetTarget(code.AddBranch(node.guard), top);
      code.AddWait(barrier);
      code.SetTarget(region, code.size());
      --builder->depth;
      return;
    }
    case Node::kCall: {
      const uint32_t move = code.AddMove(0);
      builder->calls.emplace_back(code.AddCall(), move);
      code.SetConstant(move, code.size());
      return;
    }
    case Node::kExit:
      code.AddExit(node.guard);
      return;
  }
}

// One warp on its way.
template <typename Node>
struct Warp {
  std::mt19937& random;
  TrueLaunch& launch;
  const Node& function;
  std::array<uint32_t, kPredicates> held = {};
  uint32_t alive = 0;

  void Count(double TrueCounts::*pipe, uint32_t lanes) {
    launch.of_warps.*pipe += 1;
    launch.of_threads.*pipe += std::popcount(lanes);
  }

  uint32_t Guarded(uint32_t guard, uint32_t mask) const {
    if (guard == kNoGuard) return mask;
    const uint32_t lanes = held[guard & 7];
    return mask & ((guard & kNot) != 0 ? ~lanes : lanes);
  }

  // A subset of lanes that is not empty goes through one instruction.
  void Go(uint32_t opcode, uint32_t guard, uint32_t mask) {
    if (mask == 0) return;
    const uint32_t lanes = Guarded(guard, mask);
    Count(&TrueCounts::all, lanes);
    const bool fp32 = opcode == kFmul || opcode == kFadd || opcode == kFfma;
    if (fp32) Count(&TrueCounts::fp32, lanes);
    if (fp32 || opcode == kImad) Count(&TrueCounts::fma, lanes);
    if (opcode == kIadd3 || opcode == kIsetp || opcode == 0x802) Count(&TrueCounts::alu, lanes);
    if (opcode == kMufu) Count(&TrueCounts::xu, lanes);
    if (opcode == kLdg) Count(&TrueCounts::lsu, lanes);
    if (fp32) launch.fp32_flops += (opcode == kFfma ? 2 : 1) * std::popcount(lanes);
    if (opcode == kHfma2Mma) launch.half_flops += 4 * std::popcount(lanes);
  }

  void SetPredicate(const Node& node, uint32_t mask) {
    Go(kIsetp, kNoGuard, mask);
    std::uniform_real_distribution<double> share(0, 1);
    for (int lane = 0; lane < 32; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      held[node.guard] &= ~(1u << lane);
      if (share(random) < node.share) held[node.guard] |= 1u << lane;
    }
  }

  // Goes through a part, and returns the lanes that come out of it, by those that are together.
  std::vector<uint32_t> Run(const Node& node, uint32_t mask) {
    mask &= alive;
    if (mask == 0) return {};
    switch (node.kind) {
      case Node::kSequence: {
        std::vector<uint32_t> together = {mask};
        for (const auto& part : node.parts) together = RunAll(*part, together);
        return together;
      }
      case Node::kInstruction:
        Go(node.opcode, node.guard, mask);
        return {mask};
      case Node::kSetPredicate:
        SetPredicate(node, mask);
        return {mask};
      case Node::kIf:
        return RunIf(node, mask);
      case Node::kLoop: {
        Go(0x945, kNoGuard, mask);
        uint32_t out = 0;
        std::vector<uint32_t> inside = {mask};
        while (!inside.empty()) {
          std::vector<uint32_t> next;
          for (const uint32_t lanes : RunAll(*node.parts[0], inside)) {
            SetPredicate(node, lanes);
            Go(0x947, node.guard, lanes);
            const uint32_t again = Guarded(node.guard, lanes);
            Go(0x941, kNoGuard, lanes & ~again);
            out |= lanes & ~again;
            if (again != 0) next.push_back(again);
          }
          inside = next;
        }
        return Alive(out);
      }
      case Node::kCall: {
        Go(0x802, kNoGuard, mask);
        Go(0x944, kNoGuard, mask);
        const std::vector<uint32_t> back = Run(function, mask);
        for (const uint32_t lanes : back) Go(0x950, kNoGuard, lanes);
        return back;
      }
      case Node::kExit:
        Go(0x94d, node.guard, mask);
        alive &= ~Guarded(node.guard, mask);
        return Alive(mask);
    }
    return {};
  }

  std::vector<uint32_t> RunIf(const Node& node, uint32_t mask) {
    if (node.joins) Go(0x945, kNoGuard, mask);
    Go(0x947, node.guard | kNot, mask);
    const uint32_t first = Guarded(node.guard, mask);
    std::vector<uint32_t> together = Run(*node.parts[0], first);
    for (const uint32_t lanes : together) Go(0x947, kNoGuard, lanes);
    for (const uint32_t lanes : Run(*node.other, mask & ~first)) together.push_back(lanes);
    if (!node.joins) return together;
    uint32_t joined = 0;
    for (const uint32_t lanes : together) {
      Go(0x941, kNoGuard, lanes);
      joined |= lanes;
    }
    return Alive(joined);
  }

  std::vector<uint32_t> RunAll(const Node& node, const std::vector<uint32_t>& together) {
    std::vector<uint32_t> out;
    for (const uint32_t lanes : together) {
      for (const uint32_t rest : Run(node, lanes)) out.push_back(rest);
    }
    return out;
  }

  std::vector<uint32_t> Alive(uint32_t lanes) const {
    if ((lanes & alive) == 0) return {};
    return {lanes & alive};
  }
};

}  // namespace

SimulatedKernel::SimulatedKernel(uint32_t seed, int size)
    : random_(seed), program_(std::make_unique<Node>()) {
  Builder builder{random_};
  // The kernel, and the function that it calls.
  program_->parts = {MakeSequence<Node>(&builder, size, true),
                     MakeSequence<Node>(&builder, size / 3, false)};
  builder.depth = 0;
  Write(*program_->parts[0], &builder);
  builder.code.AddExit();
  for (const auto& [call, move] : builder.calls) {
    builder.code.SetTarget(call, builder.code.size());
  }
  Write(*program_->parts[1], &builder);
  builder.code.AddReturn();
  code_ = builder.code.Bytes();
}

SimulatedKernel::~SimulatedKernel() = default;

TrueLaunch SimulatedKernel::Launch(int blocks, int threads_a_block) {
  TrueLaunch launch;
  for (int block = 0; block < blocks; ++block) {
    for (int left = threads_a_block; left > 0; left -= 32) {
      const uint32_t lanes = left >= 32 ? ~0u : (1u << left) - 1;
      launch.warps += 1;
      launch.threads += std::popcount(lanes);
      Warp<Node> warp{random_, launch, *program_->parts[1]};
      warp.alive = lanes;
      for (const uint32_t rest : warp.Run(*program_->parts[0], lanes)) {
        warp.Go(0x94d, kNoGuard, rest);
      }
    }
  }
  return launch;
}

}  // namespace utlz
