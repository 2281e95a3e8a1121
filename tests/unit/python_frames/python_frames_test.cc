// Walks over images of an interpreter's memory, whole and spoiled. Real ones: walk_test.py.
#include "inject/python/python_frames.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/python_frames/address_of.h"

namespace utlz::agent {
namespace {

constexpr size_t kFrames = 100;
constexpr uint64_t kCode = 0x555500000000;

struct Frame {
  uint64_t code, previous, instruction, local;
  uint8_t owner;
};

struct Image {
  struct {
    uint64_t ending, newest, first;
  } runtime;
  struct {
    uint64_t interpreter, frame;
  } thread;
  uint64_t interpreter;
  struct {
    uint64_t count, type, content;
  } cell;
  std::array<Frame, kFrames> frames;
};

alignas(64) Image image;
void* this_thread;

class PythonFramesTest : public ::testing::Test {
 protected:
  PythonFramesTest() {
    image = {};
    image.runtime.newest = image.runtime.first = AddressOf(&image.interpreter);
    image.thread = {AddressOf(&image.interpreter), AddressOf(&image.frames[0])};
    this_thread = &image.thread;
    for (size_t i = 0; i < kFrames; ++i) {
      const bool is_last = i + 1 == kFrames;
      image.frames[i] = {kCode + 512 * i, is_last ? 0 : AddressOf(&image.frames[i + 1]),
                         kCode + 512 * i + 200, 0, 0};
    }
    layout_.this_thread = [] { return this_thread; };
    layout_.runtime = AddressOf(&image.runtime);
    layout_.runtime_ending = 0;
    layout_.runtime_interpreters = 8;
    layout_.thread_interpreter = 0;
    layout_.thread_frame = 8;
    layout_.frame_code = offsetof(Frame, code);
    layout_.frame_previous = offsetof(Frame, previous);
    layout_.frame_instruction = offsetof(Frame, instruction);
    layout_.frame_locals = offsetof(Frame, local);
    layout_.frame_owner = offsetof(Frame, owner);
    layout_.cell_type = 0x777700000000;
    EXPECT_TRUE(frames_.Create(layout_));
  }

  NoStack Why() { return frames_.Walk().why; }
  // Of the one thread that there is.
  bool Sample() {
    for (uint32_t i = 0; i < PythonFrames::kLaunchers; ++i) {
      if (frames_.Sample(i, &stack_)) return true;
    }
    return false;
  }
  void EndAfter(size_t count) { image.frames[count - 1].previous = 0; }

  PythonLayout layout_;
  PythonFrames frames_;
  PythonStack stack_;
};

TEST_F(PythonFramesTest, ReportsANewStackOnce) {
  EndAfter(3);
  const PythonWalk walk = frames_.Walk();
  EXPECT_EQ(walk.why, NoStack::kNone);
  EXPECT_EQ(frames_.Walk().hash, walk.hash);
  ASSERT_TRUE(frames_.TakeNewStack(&stack_));
  EXPECT_EQ(stack_.hash, walk.hash);
  EXPECT_EQ(stack_.frame_count, 3u);
  EXPECT_FALSE(stack_.is_cut);
  EXPECT_EQ(stack_.frames[2].code, kCode + 1024);
  EXPECT_EQ(stack_.frames[2].instruction, kCode + 1024 + 200);
  EXPECT_FALSE(frames_.TakeNewStack(&stack_));
  image.frames[1].instruction += 2;
  EXPECT_NE(frames_.Walk().hash, walk.hash);
  EXPECT_TRUE(frames_.TakeNewStack(&stack_));
}

TEST_F(PythonFramesTest, TakesTheInnermost) {
  EXPECT_EQ(Why(), NoStack::kNone);
  ASSERT_TRUE(frames_.TakeNewStack(&stack_));
  EXPECT_EQ(stack_.frame_count, kMostPythonFrames);
  EXPECT_TRUE(stack_.is_cut);
  // What is left out is no part of the stack's hash.
  image.frames[kMostPythonFrames].instruction += 2;
  EXPECT_EQ(frames_.Walk().hash, stack_.hash);
  image.frames[kMostPythonFrames - 1].instruction += 2;
  EXPECT_NE(frames_.Walk().hash, stack_.hash);
  EXPECT_TRUE(frames_.TakeNewStack(&stack_));
  EndAfter(kMostPythonFrames);
  frames_.ForgetStacks();
  EXPECT_EQ(Why(), NoStack::kNone);
  ASSERT_TRUE(frames_.TakeNewStack(&stack_));
  EXPECT_EQ(stack_.frame_count, kMostPythonFrames);
  EXPECT_FALSE(stack_.is_cut);
}

TEST_F(PythonFramesTest, LeavesOutWhatHasNoCode) {
  EndAfter(5);
  image.frames[0].owner = 3;
  image.frames[0].code = 7;  // whatever stands there
  image.frames[2].owner = 4;
  EXPECT_EQ(Why(), NoStack::kNone);
  ASSERT_TRUE(frames_.TakeNewStack(&stack_));
  EXPECT_EQ(stack_.frame_count, 3u);
  EndAfter(1);
  EXPECT_EQ(Why(), NoStack::kNoFrames);
}

TEST_F(PythonFramesTest, RefusesWhatCannotBeAFrame) {
  for (const uint64_t odd : {uint64_t{8}, AddressOf(&image.frames[1]) + 4, ~uint64_t{7},
                             uint64_t{1} << 48, uint64_t{1} << 63}) {
    image.frames[3].previous = odd;
    EXPECT_EQ(Why(), NoStack::kOddFrames) << odd;
    image.frames[3].previous = AddressOf(&image.frames[4]);
    image.frames[3].code = odd;
    EXPECT_EQ(Why(), NoStack::kOddFrames) << odd;
    image.frames[3].code = kCode;
    image.thread.frame = odd;
    EXPECT_EQ(Why(), NoStack::kOddFrames) << odd;
    image.thread.frame = AddressOf(&image.frames[0]);
  }
  image.frames[3].owner = 5;
  EXPECT_EQ(Why(), NoStack::kOddFrames);
  image.frames[3].owner = 0;
  EXPECT_EQ(Why(), NoStack::kNone);
  EXPECT_TRUE(frames_.TakeNewStack(&stack_));
  EXPECT_FALSE(frames_.TakeNewStack(&stack_));
}

TEST_F(PythonFramesTest, EndsWhereFramesGoRound) {
  image.frames[4].previous = AddressOf(&image.frames[0]);
  EXPECT_EQ(Why(), NoStack::kNone);
  for (size_t i = 0; i < 5; ++i) image.frames[i].owner = 3;
  EXPECT_EQ(Why(), NoStack::kNoFrames);
}

TEST_F(PythonFramesTest, SaysWhyThereIsNone) {
  this_thread = nullptr;
  EXPECT_EQ(Why(), NoStack::kNoThreadState);
  this_thread = &image.thread;
  image.thread.frame = 0;
  EXPECT_EQ(Why(), NoStack::kNoFrames);
  image.thread.frame = AddressOf(&image.frames[0]);
  uint64_t another = 0;
  image.runtime.newest = AddressOf(&another);
  EXPECT_EQ(Why(), NoStack::kSubInterpreter);
  image.thread.interpreter = AddressOf(&another);
  EXPECT_EQ(Why(), NoStack::kSubInterpreter);
  image.runtime.newest = image.runtime.first;
  EXPECT_EQ(Why(), NoStack::kSubInterpreter);
  image.thread.interpreter = image.runtime.first;
  EXPECT_EQ(Why(), NoStack::kNone);
  image.runtime.ending = AddressOf(&image.thread);
  EXPECT_EQ(Why(), NoStack::kEnding);
}

TEST_F(PythonFramesTest, ReadsModules) {
  EndAfter(2);
  const uint64_t module = AddressOf(&image.interpreter);
  image.cell = {1, layout_.cell_type, module};
  EXPECT_TRUE(frames_.AddModuleCode(image.frames[1].code));
  std::vector<uint64_t> hashes;
  // No local yet, an integer's bits, an object, a cell that holds one.
  for (const uint64_t local :
       {uint64_t{0}, uint64_t{7}, AddressOf(&image.frames[9]), AddressOf(&image.cell)}) {
    image.frames[1].local = local;
    hashes.push_back(frames_.Walk().hash);
  }
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_NE(hashes[1], hashes[2]);
  EXPECT_NE(hashes[2], hashes[3]);
  while (frames_.TakeNewStack(&stack_)) {
  }
  EXPECT_EQ(stack_.frames[0].module, 0u);
  EXPECT_EQ(stack_.frames[1].module, module);
  image.cell.content = 9;
  EXPECT_EQ(frames_.Walk().hash, hashes[0]);
}

TEST_F(PythonFramesTest, TakesTagsOff) {
  layout_.has_tags = true;
  PythonFrames tagged;
  ASSERT_TRUE(tagged.Create(layout_));
  EndAfter(1);
  EXPECT_TRUE(tagged.AddModuleCode(kCode));
  image.frames[0].code = kCode + 1;
  image.frames[0].local = AddressOf(&image.frames[9]) + 1;
  EXPECT_EQ(tagged.Walk().why, NoStack::kNone);
  ASSERT_TRUE(tagged.TakeNewStack(&stack_));
  EXPECT_EQ(stack_.frames[0].code, kCode);
  EXPECT_EQ(stack_.frames[0].module, AddressOf(&image.frames[9]));
  image.frames[0].local = AddressOf(&image.frames[9]) + 3;  // a small integer
  EXPECT_EQ(tagged.Walk().why, NoStack::kNone);
  ASSERT_TRUE(tagged.TakeNewStack(&stack_));
  EXPECT_EQ(stack_.frames[0].module, 0u);
}

TEST_F(PythonFramesTest, KnowsAsManyStacksAsItHasRoomFor) {
  EndAfter(1);
  // More than a cache holds: some are reported again, none is ever wrong.
  size_t new_ones = 0;
  for (int round = 0; round < 2; ++round) {
    for (uint64_t i = 0; i < 2 * PythonFrames::kCacheEntries; ++i) {
      image.frames[0].instruction = kCode + 2 * i;
      const uint64_t hash = frames_.Walk().hash;
      while (frames_.TakeNewStack(&stack_)) {
        ++new_ones;
        ASSERT_EQ(stack_.hash, hash);
        ASSERT_EQ(stack_.frames[0].instruction, kCode + 2 * i);
      }
    }
  }
  EXPECT_GE(new_ones, 2 * PythonFrames::kCacheEntries);
  EXPECT_EQ(frames_.TakeLost(), 0u);
}

TEST_F(PythonFramesTest, KnowsAFewStacksForGood) {
  EndAfter(1);
  std::set<uint64_t> instructions;
  std::mt19937_64 random(7);
  while (instructions.size() < 1000) instructions.insert(kCode + random() % (1 << 30) * 2);
  size_t new_ones = 0;
  for (int round = 0; round < 5; ++round) {
    for (const uint64_t instruction : instructions) {
      image.frames[0].instruction = instruction;
      frames_.Walk();
      while (frames_.TakeNewStack(&stack_)) ++new_ones;
    }
  }
  EXPECT_EQ(new_ones, instructions.size());
}

TEST_F(PythonFramesTest, HasRoomForFourModuleCodes) {
  for (uint64_t i = 1; i <= PythonFrames::kMostModuleCodes; ++i) {
    EXPECT_TRUE(frames_.AddModuleCode(kCode + 64 * i));
  }
  EXPECT_TRUE(frames_.AddModuleCode(kCode + 64));
  EXPECT_FALSE(frames_.AddModuleCode(kCode));
}

// Four threads, each with frames of its own, and one that takes what is new.
TEST_F(PythonFramesTest, ThreadsReportSideBySide) {
  constexpr uint64_t kThreads = 4, kStacks = 30000;
  static thread_local void* of_thread;
  layout_.this_thread = [] { return of_thread; };
  PythonFrames frames;
  ASSERT_TRUE(frames.Create(layout_));
  std::atomic<uint64_t> running{kThreads}, waiting{kThreads};
  std::vector<std::thread> threads;
  for (uint64_t i = 1; i <= kThreads; ++i) {
    threads.emplace_back([&frames, &running, &waiting, i] {
      Frame frame = {kCode + 4 * kStacks * i, 0, 0, 0, 0};
      const struct {
        uint64_t interpreter, frame;
      } thread = {image.runtime.first, AddressOf(&frame)};
      of_thread = const_cast<void*>(static_cast<const void*>(&thread));
      waiting.fetch_sub(1);
      while (waiting.load() != 0) std::this_thread::yield();
      for (uint64_t at = 0; at < kStacks; ++at) {
        frame.instruction = frame.code + 2 * at;
        EXPECT_EQ(frames.Walk().why, NoStack::kNone);
      }
      running.fetch_sub(1);
    });
  }
  std::vector<std::pair<uint64_t, uint64_t>> taken;
  taken.reserve(kThreads * kStacks);
  bool is_over = false;
  while (!is_over) {
    is_over = running.load() == 0;  // before the last look
    while (frames.TakeNewStack(&stack_)) {
      taken.emplace_back(stack_.frames[0].code, stack_.frames[0].instruction);
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken.size() + frames.TakeLost(), kThreads * kStacks);
  for (const auto& [code, instruction] : taken) EXPECT_LT(instruction - code, 2 * kStacks);
  EXPECT_EQ(std::set(taken.begin(), taken.end()).size(), taken.size());
}

// Frames whose words are anything that stays inside the image or cannot be an address.
TEST_F(PythonFramesTest, SurvivesSpoiledFrames) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20000; ++round) {
    for (Frame& frame : image.frames) {
      frame.owner = static_cast<uint8_t>(random() % 6);
      const uint64_t within = AddressOf(&image.frames[random() % kFrames]);
      frame.previous = random() % 50 == 0 ? random() | 1 : within;
      frame.code = random() % 50 == 0 ? random() | 1 : kCode + 8 * (random() % 100);
    }
    const PythonWalk walk = frames_.Walk();
    ASSERT_EQ(walk.hash == 0, walk.why != NoStack::kNone);
    while (frames_.TakeNewStack(&stack_)) {
      ASSERT_LE(stack_.frame_count, kMostPythonFrames);
    }
  }
}

TEST_F(PythonFramesTest, SamplesWhatALaunchingThreadIsIn) {
  EndAfter(3);
  EXPECT_FALSE(Sample());  // it has launched nothing yet
  const uint64_t hash = frames_.Walk().hash;
  ASSERT_TRUE(Sample());
  EXPECT_EQ(stack_.hash, hash);
  EXPECT_EQ(stack_.frame_count, 3u);
  EXPECT_EQ(stack_.frames[2].instruction, kCode + 1024 + 200);
  image.frames[0].instruction += 2;
  ASSERT_TRUE(Sample());
  EXPECT_EQ(stack_.hash, frames_.Walk().hash);
  image.frames[2].previous = AddressOf(&image.frames[3]);
  ASSERT_TRUE(Sample());
  EXPECT_EQ(stack_.hash, frames_.Walk().hash);
  EXPECT_TRUE(stack_.is_cut);
  image.thread.frame = 0;
  EXPECT_FALSE(Sample());
}

TEST_F(PythonFramesTest, SamplesNothingOfMemoryThatIsGone) {
  EXPECT_EQ(Why(), NoStack::kNone);
  void* const page = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  munmap(page, 4096);
  image.frames[3].previous = AddressOf(page);
  EXPECT_FALSE(Sample());
  image.thread.frame = AddressOf(page);
  EXPECT_FALSE(Sample());
}

// Two frames whose instructions count up, one after the other.
TEST_F(PythonFramesTest, SamplesStacksThatTheThreadHadAtOnce) {
  EndAfter(3);
  image.frames[1].instruction = image.frames[2].instruction = kCode;
  EXPECT_EQ(Why(), NoStack::kNone);
  std::atomic<bool> ends{false};
  std::thread runs([&ends] {
    for (uint64_t i = 0; !ends.load(); i += 2) {
      __atomic_store_n(&image.frames[1].instruction, kCode + i, __ATOMIC_RELEASE);
      __atomic_store_n(&image.frames[2].instruction, kCode + i, __ATOMIC_RELEASE);
      if (i % 64 == 0) std::this_thread::yield();
    }
  });
  int sampled = 0;
  for (int i = 0; i < 200000 && sampled < 1000; ++i) {
    if (!Sample()) continue;
    ++sampled;
    const uint64_t first = stack_.frames[1].instruction, second = stack_.frames[2].instruction;
    EXPECT_LE(first > second ? first - second : second - first, 2u);
  }
  ends = true;
  runs.join();
  EXPECT_GT(sampled, 0);
}

}  // namespace
}  // namespace utlz::agent
