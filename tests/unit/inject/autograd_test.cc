// Reads nodes of a library that stands in for libtorch_cpu.so (tests/programs/torch_autograd.cc).
// Each test has a process of its own: of libraries of that name the first is looked at.
#include "inject/python/autograd.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <vector>

// LeakSanitizer's tracer dies of a signal where it looks at the thread-local blocks of a library
// that dlopen loaded.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

namespace utlz::agent {
namespace {

class AutogradTest : public ::testing::Test {
 protected:
  void Load(const char* path) {
    library_ = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
    make_node_ = Function<void* (*)()>("torch_make_node");
    make_accumulator_ = Function<void* (*)()>("torch_make_accumulator");
    number_ = Function<uint64_t (*)(void*)>("torch_number");
    thread_ = Function<uint64_t (*)(void*)>("torch_thread");
    references_ = Function<long (*)(void*)>("torch_references");
    evaluate_ = Function<void (*)(void*, void (*)(void*), void*)>("torch_evaluate");
  }

  template <typename T>
  T Function(const char* name) {
    return reinterpret_cast<T>(dlsym(library_, name));
  }

  // On autograd's thread.
  AutogradPlace ReadIn(void* node, bool runs_python = false) {
    AutogradPlace place;
    std::function<void()> work = [&] { place = autograd_.Read(runs_python); };
    evaluate_(
        node, [](void* data) { (*static_cast<std::function<void()>*>(data))(); }, &work);
    return place;
  }

  void LearnNodes() {
    for (int i = 0; i < 20; ++i) ReadIn(make_node_());
  }

  Autograd autograd_;
  void* library_ = nullptr;
  void* (*make_node_)() = nullptr;
  void* (*make_accumulator_)() = nullptr;
  uint64_t (*number_)(void*) = nullptr;
  uint64_t (*thread_)(void*) = nullptr;
  long (*references_)(void*) = nullptr;
  void (*evaluate_)(void*, void (*)(void*), void*) = nullptr;
};

TEST_F(AutogradTest, NotFoundWithoutPyTorch) {
  EXPECT_EQ(autograd_.Find(), NoBackward::kNoTorch);
  EXPECT_FALSE(autograd_.Read(false).is_in_node);
  Load(UTLZ_TORCH);
  EXPECT_EQ(autograd_.Find(), NoBackward::kNone);
}

TEST_F(AutogradTest, RefusesWithoutTheFunction) {
  Load(UTLZ_TORCH_WITHOUT_NODES);
  EXPECT_EQ(autograd_.Find(), NoBackward::kOtherLayout);
  EXPECT_EQ(autograd_.Read(true).made, AutogradNode());
}

TEST_F(AutogradTest, ReadsNodesAndGivesThemBack) {
  Load(UTLZ_TORCH);
  ASSERT_EQ(autograd_.Find(), NoBackward::kNone);
  for (int i = 0; i < 30; ++i) {  // while it asks for them, and afterwards
    void* const node = make_node_();
    const AutogradPlace place = ReadIn(node);
    EXPECT_TRUE(place.is_in_node);
    EXPECT_EQ(place.evaluated, (AutogradNode{thread_(node), number_(node)})) << i;
    EXPECT_EQ(references_(node), 1);
    const AutogradPlace forward = autograd_.Read(true);
    EXPECT_FALSE(forward.is_in_node);
    EXPECT_EQ(forward.made, (AutogradNode{thread_(node), number_(node)}));
  }
  EXPECT_EQ(ReadIn(make_accumulator_()).evaluated.number, kAccumulateNumber);
  EXPECT_EQ(autograd_.Find(), NoBackward::kNone);
}

TEST_F(AutogradTest, ThreadsWithPythonAreReadOnceNodesAreKnown) {
  Load(UTLZ_TORCH);
  ASSERT_EQ(autograd_.Find(), NoBackward::kNone);
  EXPECT_FALSE(ReadIn(make_node_(), true).is_in_node);
  LearnNodes();
  void* const node = make_node_();
  const AutogradPlace place = ReadIn(node, true);
  EXPECT_EQ(place.evaluated.number, number_(node));
  EXPECT_EQ(place.made, AutogradNode()) << "autograd's thread has made none";
}

TEST_F(AutogradTest, ANodeInTwoPlacesEndsAllReading) {
  Load(UTLZ_TORCH);
  ASSERT_EQ(autograd_.Find(), NoBackward::kNone);
  const auto questions = Function<uint64_t (*)()>("torch_questions");
  AutogradPlace place;
  std::function<void()> work = [&] {
    Function<void (*)()>("torch_copy_current_node")();
    place = autograd_.Read(false);
  };
  evaluate_(
      make_node_(), [](void* data) { (*static_cast<std::function<void()>*>(data))(); }, &work);
  EXPECT_FALSE(place.is_in_node);
  EXPECT_EQ(autograd_.Find(), NoBackward::kOtherLayout);
  const uint64_t asked = questions();
  EXPECT_EQ(asked, 1u);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(ReadIn(make_node_()).is_in_node);
  EXPECT_EQ(questions(), asked);
}

TEST_F(AutogradTest, ThreadsThatHaveNotUsedItAreLeftAlone) {
  Load(UTLZ_TORCH);
  ASSERT_EQ(autograd_.Find(), NoBackward::kNone);
  AutogradLibrary library;
  ASSERT_EQ(FindAutograd(&library), NoBackward::kNone);
  std::thread([&] {
    for (const bool runs_python : {false, true}) {
      const AutogradPlace place = autograd_.Read(runs_python);
      EXPECT_FALSE(place.is_in_node);
      EXPECT_EQ(place.made, AutogradNode());
    }
    EXPECT_EQ(ThreadLocalBlock(library), nullptr) << "no memory was taken for it";
    void* const node = make_node_();
    EXPECT_NE(ThreadLocalBlock(library), nullptr);
    EXPECT_EQ(autograd_.Read(true).made, (AutogradNode{thread_(node), 0}));
  }).join();
}

TEST_F(AutogradTest, ThreadsThatMadeNoNodeAreGivenNoNumber) {
  Load(UTLZ_TORCH);
  ASSERT_EQ(autograd_.Find(), NoBackward::kNone);
  LearnNodes();
  void* const before = make_node_();
  std::thread([&] {
    // Uses PyTorch, and makes no node.
    Function<uint64_t (*)()>("_ZN2at15sequence_number4peekEv")();
    EXPECT_EQ(autograd_.Read(true).made, AutogradNode());
  }).join();
  std::thread([&] { EXPECT_EQ(thread_(make_node_()), thread_(before) + 1); }).join();
}

TEST(TorchVersion, IsReadFromItsFile) {
  uint32_t major = 0, minor = 0;
  EXPECT_TRUE(
      ReadTorchVersion("from typing import Optional\n\n__all__ = ['__version__']\n"
                       "__version__ = '2.11.0+cu130'\n",
                       &major, &minor));
  EXPECT_EQ(major, 2u);
  EXPECT_EQ(minor, 11u);
  EXPECT_TRUE(ReadTorchVersion("__version__: str = \"1.13.1\"", &major, &minor));
  EXPECT_EQ(major, 1u);
  for (const char* text :
       {"", "\n\n", "__version__", "__version__ = ", "__version__ = 2.1", "__version__ = '2'",
        "__version__ = '2,1'", "__version__\n'2.1'", "version = '2.1'", "x__version__ = '2.1'"}) {
    EXPECT_FALSE(ReadTorchVersion(text, &major, &minor)) << text;
  }
}

}  // namespace
}  // namespace utlz::agent
