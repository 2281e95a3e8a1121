#include "collector/run/application_readings.h"

#include <gtest/gtest.h>

#include <cmath>

#include "collector/metrics/application_history.h"
#include "tests/support/nanoseconds.h"

namespace utlz {
namespace {

ApplicationReading ReadingAt(uint64_t second, double tokens) {
  ApplicationReading reading;
  reading.set_time_ns(second * kSecondNs);
  reading.set_engine("vllm");
  reading.set_generated_tokens(tokens);
  reading.set_waiting(static_cast<double>(second));
  return reading;
}

void AddFirstTokens(double within_a_second, double all, ApplicationReading* reading) {
  for (const double bound : {0.5, 1.0, HUGE_VAL}) reading->add_first_token_seconds(bound);
  for (const double count : {0.0, within_a_second, all}) reading->add_first_token_requests(count);
}

TEST(ApplicationReadings, TotalsGoOnWhereTheServerIsStartedAnew) {
  ApplicationReadings readings;
  EXPECT_TRUE(readings.Add(ReadingAt(10, 1000)));
  EXPECT_TRUE(readings.Add(ReadingAt(20, 1500)));
  EXPECT_TRUE(readings.Add(ReadingAt(30, 100)));
  EXPECT_EQ(readings.count(), 3u);
  EXPECT_EQ(readings.first().generated_tokens(), 1000);
  EXPECT_EQ(readings.last().generated_tokens(), 1600);
  EXPECT_EQ(readings.waiting_mean(), 20);
  EXPECT_EQ(readings.waiting_maximum(), 30);
}

TEST(ApplicationReadings, RefusesWhatCannotBe) {
  ApplicationReadings readings;
  EXPECT_TRUE(readings.Add(ReadingAt(10, 1000)));
  EXPECT_FALSE(readings.Add(ReadingAt(10, 2000))) << "no time has passed";
  EXPECT_FALSE(readings.Add(ReadingAt(20, NAN)));
  EXPECT_FALSE(readings.Add(ReadingAt(20, -1)));
  ApplicationReading falls = ReadingAt(20, 2000);
  AddFirstTokens(5, 4, &falls);
  EXPECT_FALSE(readings.Add(falls));
  EXPECT_EQ(readings.last().generated_tokens(), 1000);
}

TEST(ApplicationReadings, TimeToFirstTokenIsOfTheRequestsBetween) {
  ApplicationReading from = ReadingAt(10, 0);
  AddFirstTokens(1000, 1000, &from);
  ApplicationReading to = ReadingAt(20, 0);
  AddFirstTokens(1100, 1100, &to);
  EXPECT_NEAR(FirstTokenSeconds(from, to, 0.99).value(), 0.995, 1e-9);
  ApplicationReading late = ReadingAt(30, 0);
  AddFirstTokens(1100, 1200, &late);
  EXPECT_FALSE(FirstTokenSeconds(to, late, 0.99).has_value()) << "later than any bound";
  EXPECT_FALSE(FirstTokenSeconds(to, to, 0.99).has_value()) << "nobody asked";
}

// Of GPUs that take so many watts from the start on.
EnergyReading Energy(double watts, double second) {
  return {.joules = watts * second, .time_ns = second * 1e9};
}

TEST(ApplicationHistory, EnergyCountsByItsOwnTimes) {
  ApplicationHistory history;
  history.Update(ReadingAt(5, 500), std::nullopt);  // it is not known yet
  history.Update(ReadingAt(10, 1000), Energy(400, 9.9));
  EXPECT_FALSE(history.Rates().joules_per_token.has_value());
  history.Update(ReadingAt(15, 1500), Energy(400, 14.1));
  EXPECT_NEAR(history.Rates().joules_per_token.value(), 4, 1e-9);
  EXPECT_NEAR(history.Rates().tokens_per_joule.value(), 0.25, 1e-9);
  history.Update(ReadingAt(20, 2000), std::nullopt);
  EXPECT_FALSE(history.Rates().joules_per_token.has_value());
}

TEST(ApplicationHistory, RatesOfTheLastSeconds) {
  ApplicationHistory history;
  EXPECT_FALSE(history.Rates().tokens_per_second.has_value());
  for (uint64_t second = 5; second <= 100; second += 5) {
    const double rate = second <= 50 ? 100 : 200;
    history.Update(ReadingAt(second, rate * static_cast<double>(second)),
                   Energy(400, static_cast<double>(second)));
    history.Update(ReadingAt(second, 1e9), Energy(0, 0));  // the same page again
  }
  const ApplicationRates rates = history.Rates();
  EXPECT_DOUBLE_EQ(rates.tokens_per_second.value(), 200);
  EXPECT_DOUBLE_EQ(rates.tokens_per_joule.value(), 0.5);
  EXPECT_DOUBLE_EQ(rates.joules_per_token.value(), 2);
  EXPECT_FALSE(rates.requests_per_second.has_value());
}

}  // namespace
}  // namespace utlz
