#include "inject/base/turns.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace utlz::agent {
namespace {

// Of another thread, as the agent's is: from its construction until End().
class TurnUnderWay {
 public:
  explicit TurnUnderWay(Turns* turns)
      : thread_([this, turns] {
          turns->Take([this] {
            begun_.set_value();
            ended_.get_future().wait();
            return true;
          });
        }) {
    begun_.get_future().wait();
  }
  void End() {
    ended_.set_value();
    thread_.join();
  }

 private:
  std::promise<void> begun_, ended_;
  std::thread thread_;
};

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
  TurnUnderWay turn(&turns);
  bool called = false;
  turns.Between(0, [&] { called = true; });
  EXPECT_FALSE(called);
  EXPECT_FALSE(turns.End(0));
  EXPECT_TRUE(turns.ended());
  turn.End();
  turns.Between(1'000'000'000, [&] { called = true; });
  EXPECT_TRUE(called);
}

TEST(TurnsTest, AProgramsThreadTakesOneWhereItNeedNotWait) {
  Turns turns;
  int calls = 0;
  const auto call = [&] { ++calls; };
  EXPECT_TRUE(turns.TakeWithin(0, call));
  EXPECT_EQ(calls, 1);
  TurnUnderWay turn(&turns);
  EXPECT_FALSE(turns.TakeWithin(0, call)) << "the agent's thread is in one";
  turn.End();
  turns.EndInChild();
  EXPECT_FALSE(turns.TakeWithin(1'000'000'000, call));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace utlz::agent
