#include "collector/owners/why_without_stacks.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "collector/run/graph_nodes.h"

namespace utlz {
namespace {

const char* SentenceOf(uint32_t reason) {
  switch (reason) {
    case NO_STACK_NO_PYTHON:
      return "no interpreter of Python was found in the process";
    case NO_STACK_OTHER_VERSION:
      return "its Python is no final release of CPython 3.11 to 3.14";
    case NO_STACK_FREE_THREADED:
      return "its Python is free-threaded";
    case NO_STACK_DEBUG_BUILD:
      return "its Python is a debug build";
    case NO_STACK_JIT_BUILD:
      return "its Python is built with a JIT compiler";
    case NO_STACK_OTHER_LAYOUT:
      return "its Python has another layout than CPython's";
    case NO_STACK_NO_MEMORY:
      return "there was no memory for them";
    case NO_STACK_NOT_SUBSCRIBED:
      return "another CUPTI client, such as torch.profiler, has the subscription or has had it";
    default:
      return nullptr;
  }
}

// A program without PyTorch has no backward pass of its kind.
const char* SentenceOfBackward(uint32_t reason) {
  switch (reason) {
    case NO_BACKWARD_OTHER_RELEASE:
      return "its PyTorch is no release from 2.0 to 2.11";
    case NO_BACKWARD_OTHER_LAYOUT:
      return "its PyTorch keeps nodes elsewhere than the release that it says it is";
    default:
      return nullptr;
  }
}

const char* SentenceOfCaptures(uint32_t reason) {
  switch (reason) {
    case NO_CAPTURE_OTHER_RELEASE:
      return "its CUPTI does not number their nodes";
    case NO_CAPTURE_NOT_SUBSCRIBED:
      return "another CUPTI client, such as torch.profiler, has the subscription or has had it";
    case NO_CAPTURE_BUSY:
      return "the agent was busy at that moment, and a capture does not wait for it";
    case NO_CAPTURE_NO_ROOM:
      return "they have more nodes than are kept";
    default:
      return nullptr;
  }
}

constexpr char kOfJax[] =
    "operations of XLA inside a function of jax.jit have the line that calls it, and no layer: "
    "'utlz run' with --stacks=auto reads XLA's own names, but not in processes that were attached "
    "to, nor in programs that set NVTX_INJECTION64_PATH themselves";

// Of XLA's instructions none was seen.
bool HasJaxAlone(const StackTable& stacks) {
  bool has_jax = false;
  for (const StackFrame& frame : stacks.frames()) {
    if (frame.of_xla) return false;
    has_jax = has_jax || frame.file.find("/jax/_src/") != std::string::npos;
  }
  return has_jax;
}

// Whether a kernel of a CUDA graph of this process ran without the stack of its capture. An agent
// that missed the begin of a capture does not know: nodes may have been announced still, and XLA
// builds no graph in most runs of a program.
bool HasUnseenCapture(const GraphNodes& graph_nodes, uint32_t source) {
  const std::vector<GraphNodes::Node>& nodes = graph_nodes.nodes();
  return std::any_of(nodes.begin(), nodes.end(), [source](const GraphNodes::Node& node) {
    return node.source == source && node.captured == kNoStack;
  });
}

// Null where no stack of a capture is missing.
const char* WhyCaptureIsUnseen(const RunState& state, uint32_t source, uint32_t reason) {
  const char* sentence = SentenceOfCaptures(reason);
  // Where CUPTI does not number nodes, the run knows of none.
  const bool is_missing = sentence != nullptr && (reason == NO_CAPTURE_OTHER_RELEASE ||
                                                  HasUnseenCapture(state.graph_nodes, source));
  return is_missing ? sentence : nullptr;
}

}  // namespace

std::string WhyWithoutStacks(const RunState& state) {
  std::string of_captures, of_backward;
  for (const auto& entry : state.processes.processes()) {
    const AgentStatus& status = entry.second->status;
    const std::string process = "process " + std::to_string(entry.second->info.pid());
    if (const char* sentence = SentenceOf(status.no_stack())) {
      return process + " has launches without stacks: " + sentence;
    }
    const char* of_graphs =
        of_captures.empty() ? WhyCaptureIsUnseen(state, entry.first, status.no_capture()) : nullptr;
    if (of_graphs != nullptr) {
      of_captures = process + " captured CUDA graphs whose stacks were not seen: " + of_graphs;
    }
    const char* sentence = SentenceOfBackward(status.no_backward());
    if (sentence == nullptr || !of_backward.empty()) continue;
    of_backward = process + " has backward launches without an owner: " + sentence;
  }
  if (!of_captures.empty()) return of_captures;
  return of_backward.empty() && HasJaxAlone(state.stacks) ? kOfJax : of_backward;
}

}  // namespace utlz
