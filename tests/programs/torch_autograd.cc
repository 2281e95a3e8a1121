// Stands in for libtorch_cpu.so as far as the agent looks at it: the exported functions with their
// names, nodes with their numbers where PyTorch has them, the thread-local variables, and one
// thread without Python that evaluates nodes, as autograd has for each device.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace at {
namespace {

thread_local uint64_t next_number = 0;
thread_local uint64_t thread_number = 0;
uint64_t next_thread_number = 1;
std::mutex thread_numbers;

}  // namespace

namespace sequence_number {

uint64_t peek();
uint64_t get_and_increment();
uint64_t peek() { return next_number; }
uint64_t get_and_increment() { return next_number++; }

}  // namespace sequence_number

struct RecordFunction {
  static uint64_t currentThreadId();
};

uint64_t RecordFunction::currentThreadId() {
  if (thread_number == 0) {
    const std::lock_guard lock(thread_numbers);
    thread_number = next_thread_number++;
  }
  return thread_number;
}

}  // namespace at

namespace torch::autograd {

struct Node : std::enable_shared_from_this<Node> {
  explicit Node(uint64_t with_number)
      : number(with_number), thread(at::RecordFunction::currentThreadId()) {}
  virtual ~Node() = default;

  uint64_t number;
  uint64_t topological_number = 0;
  bool has_parent = false;
  uint64_t thread;
};

namespace {

// What is in PyTorch's block of thread-local memory beside what is looked for.
thread_local volatile uint64_t others[24] = {7};  // volatile: the agent reads them, nobody here
std::atomic<uint64_t> questions{0};  // calls of get_current_node

std::shared_ptr<Node>& CurrentNode() {
  static thread_local std::shared_ptr<Node> node;
  return node;
}

}  // namespace

#ifndef UTLZ_WITHOUT_CURRENT_NODE
std::shared_ptr<Node> get_current_node();
std::shared_ptr<Node> get_current_node() {
  ++questions;
  return CurrentNode();
}
#endif

}  // namespace torch::autograd

namespace {

using torch::autograd::CurrentNode;
using torch::autograd::Node;

class Guard {
 public:
  explicit Guard(std::shared_ptr<Node> node) : before_(std::move(CurrentNode())) {
    CurrentNode() = std::move(node);
  }
  ~Guard() { CurrentNode() = std::move(before_); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  std::shared_ptr<Node> before_;
};

// Does one piece of work at a time; what it is given on its own thread at once.
class Engine {
 public:
  Engine() : thread_([this] { Serve(); }) { thread_.detach(); }

  void Run(const std::function<void()>& work) {
    if (std::this_thread::get_id() == id_) return work();
    std::unique_lock lock(mutex_);
    work_ = &work;
    changed_.notify_all();
    changed_.wait(lock, [this] { return work_ == nullptr; });
  }

 private:
  void Serve() {
    std::unique_lock lock(mutex_);
    id_ = std::this_thread::get_id();
    torch::autograd::others[0] = 1;
    for (;;) {
      changed_.wait(lock, [this] { return work_ != nullptr; });
      const std::function<void()>& work = *work_;
      lock.unlock();
      work();
      lock.lock();
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
  std::thread::id id_;
  std::thread thread_;
};

Engine& TheEngine() {
  static Engine* const engine = new Engine;  // its thread runs until the process ends
  return *engine;
}

using Shared = std::shared_ptr<Node>;

}  // namespace

extern "C" {

void* torch_make_node() { return new Shared(new Node(at::sequence_number::get_and_increment())); }
void* torch_make_accumulator() { return new Shared(new Node(UINT64_MAX)); }
void torch_free_node(void* node) { delete static_cast<Shared*>(node); }
uint64_t torch_number(void* node) { return (*static_cast<Shared*>(node))->number; }
uint64_t torch_thread(void* node) { return (*static_cast<Shared*>(node))->thread; }
long torch_references(void* node) { return static_cast<Shared*>(node)->use_count(); }

// Has autograd's thread evaluate the node, which does `work`.
void torch_evaluate(void* node, void (*work)(void*), void* data) {
  TheEngine().Run([&] {
    const Guard guard(*static_cast<Shared*>(node));
    work(data);
  });
}

// The node's two words stand in a second place of the thread's block.
void torch_copy_current_node() {
  uint64_t words[2];
  std::memcpy(words, static_cast<const void*>(&CurrentNode()), sizeof(words));
  for (int i = 0; i < 2; ++i) torch::autograd::others[2 + i] = words[i];
}
uint64_t torch_questions() { return torch::autograd::questions; }

// Has it launch kernels by the driver's functions meanwhile.
struct TorchLaunch {
  int (*set_context)(void*);
  void* context;
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                void**, void**);
  void* function;
  void* stream;
  int status;
};

void torch_evaluate_launch(void* node, TorchLaunch* launch) {
  torch_evaluate(
      node,
      [](void* data) {
        auto* one = static_cast<TorchLaunch*>(data);
        one->status = one->set_context(one->context);
        if (one->status != 0) return;
        one->status =
            one->launch(one->function, 4, 1, 1, 64, 1, 1, 0, one->stream, nullptr, nullptr);
      },
      launch);
}

}  // extern "C"
