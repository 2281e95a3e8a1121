#include "inject/base/turns.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace utlz::agent {
namespace {

TEST(TurnsTest, ATurnReturnsWhatItsFunctionDoes) {
  Turns turns;
  EXPECT_TRUE(turns.Take([] { return true; }));
  EXPECT_FALSE(turns.Take([] { return false; }));
}

TEST(TurnsTest, NoneComesAfterTheEnd) {
  Turns turns;
  EXPECT_TRUE(turns.End(0));
  EXPECT_TRUE(turns.ended());
  bool taken = false;
  EXPECT_FALSE(turns.Take([&] { return taken = true; }));
  EXPECT_FALSE(taken);
}

TEST(TurnsTest, WhoEndsThemHearsOfOneThatIsUnderWay) {
  Turns turns;
  std::promise<void> begun, ended;
  std::thread thread([&] {
    turns.Take([&] {
      begun.set_value();
      ended.get_future().wait();
      return true;
    });
  });
  begun.get_future().wait();
  bool called = false;
  turns.Between(0, [&] { called = true; });
  EXPECT_FALSE(called);
  EXPECT_FALSE(turns.End(0));
  EXPECT_TRUE(turns.ended());
  ended.set_value();
  thread.join();
  turns.Between(1'000'000'000, [&] { called = true; });
  EXPECT_TRUE(called);
}

TEST(TurnsTest, AProgramsThreadTakesOneWhereItNeedNotWait) {
  Turns turns;
  int calls = 0;
  const auto call = [&] { ++calls; };
  EXPECT_TRUE(turns.TakeWithin(0, call));
  EXPECT_EQ(calls, 1);
  std::promise<void> begun, ended;
  std::thread thread([&] {
    turns.Take([&] {
      begun.set_value();
      ended.get_future().wait();
      return true;
    });
  });
  begun.get_future().wait();
  EXPECT_FALSE(turns.TakeWithin(0, call)) << "the agent's thread is in one";
  ended.set_value();
  thread.join();
  turns.EndInChild();
  EXPECT_FALSE(turns.TakeWithin(1'000'000'000, call));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace utlz::agent
