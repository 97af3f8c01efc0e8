#include "device/readings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flashbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Reading at(double mhz) {
  Reading reading;
  reading.clock_mhz = mhz;
  return reading;
}

std::vector<Reading> many(int n, const Reading& reading) {
  return std::vector<Reading>(static_cast<std::size_t>(n), reading);
}

// `n` readings, of which the first `k` have `what`.
std::vector<Reading> some(int k, int n, bool Reading::*what, double mhz = 1980) {
  std::vector<Reading> readings = many(n, at(mhz));
  for (int i = 0; i < k; ++i) readings[static_cast<std::size_t>(i)].*what = true;
  return readings;
}

Row noted(const std::vector<Reading>& readings, std::optional<double> highest = 1980) {
  Row row;
  row.memory.device_bytes = 2 << 20;
  note_readings(row, readings, highest);
  return row;
}

TEST(Readings, GiveTheMedianClock) {
  EXPECT_EQ(noted({at(1980), at(1755), at(1800)}).clock_mhz, 1800);
  EXPECT_EQ(noted({at(1980), at(1800)}).clock_mhz, 1890);
  EXPECT_EQ(noted({at(1980)}).clock_mhz, 1980);
}

TEST(Readings, GiveNoClockWhereNoneWasRead) {
  EXPECT_FALSE(noted({}).clock_mhz);
  const Row refused = noted(many(5, Reading{}));
  EXPECT_FALSE(refused.clock_mhz);
  EXPECT_THAT(refused.flags, IsEmpty());
  EXPECT_EQ(noted({Reading{}, at(1900), Reading{}}).clock_mhz, 1900);
}

TEST(Readings, OfAnIdleGpuDoNotCountBesideOthers) {
  std::vector<Reading> readings = some(8, 10, &Reading::idle, 345);
  readings[8] = readings[9] = at(1980);
  const Row row = noted(readings);
  EXPECT_EQ(row.clock_mhz, 1980);
  EXPECT_THAT(row.flags, IsEmpty());
  const Row idle_only = noted(some(3, 3, &Reading::idle, 345));
  EXPECT_EQ(idle_only.clock_mhz, 345);
  EXPECT_THAT(idle_only.flags, IsEmpty()) << "an idle clock was not held down";
}

TEST(Readings, FlagALowClockThatNothingExplains) {  // B10
  EXPECT_THAT(noted(many(9, at(827)), 1410).flags, ElementsAre("throttled"));
  EXPECT_THAT(noted(many(9, at(1300)), 1410).flags, IsEmpty());
  EXPECT_THAT(noted(many(9, at(827)), std::nullopt).flags, IsEmpty());
}

TEST(Readings, BlameThePowerLimitForAClockThatItHeldDown) {
  EXPECT_THAT(noted(some(9, 9, &Reading::power_capped, 1200)).flags, ElementsAre("power_capped"));
}

TEST(Readings, FlagWhatHappenedInANotableShareOfThem) {
  EXPECT_THAT(noted(some(1, 10, &Reading::power_capped)).flags, IsEmpty());
  EXPECT_THAT(noted(some(2, 10, &Reading::power_capped)).flags, ElementsAre("power_capped"));
  EXPECT_THAT(noted(some(1, 10, &Reading::slowed)).flags, IsEmpty());
  EXPECT_THAT(noted(some(2, 10, &Reading::slowed)).flags, ElementsAre("throttled"));
  EXPECT_THAT(noted(some(1, 1, &Reading::slowed)).flags, ElementsAre("throttled"));
}

TEST(Readings, FlagAnotherProcessHoweverShortItsVisit) {
  const Row row = noted(some(1, 100, &Reading::contended));
  EXPECT_THAT(row.flags, ElementsAre("contended"));
  EXPECT_FALSE(row.memory.device_bytes) << "the other process may have taken it";
  EXPECT_TRUE(noted(many(100, at(1980))).memory.device_bytes);
}

}  // namespace
}  // namespace flashbench
