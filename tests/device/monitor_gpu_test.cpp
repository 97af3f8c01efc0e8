// The driver's readings of a real GPU: that they are plausible, and cheap.
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <thread>

#include "device/monitor.hpp"
#include "device/uuid.hpp"
#include "roster/roster.hpp"
#include "support/places.hpp"

namespace flashbench {
namespace {

// Reads while the worker measures its first ceiling; of an idle GPU where it has none.
std::vector<Reading> readings_at_work(const WorkerFacts& facts, const GpuMonitor& monitor) {
  std::vector<Reading> readings;
  WorkerLink worker = link_to(facts, 60);
  const auto look = [&] { readings.push_back(monitor.read()); };
  if (!facts.hello.ceilings.empty())
    worker.ask(request::Ceiling{facts.hello.ceilings.front(), 1000}, {}, look);
  while (readings.size() < 10) {
    look();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  worker.leave();
  return readings;
}

double milliseconds_of_a_reading(const GpuMonitor& monitor) {
  constexpr int times = 50;
  const auto started = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) monitor.read();
  const auto took = std::chrono::steady_clock::now() - started;
  return std::chrono::duration<double, std::milli>(took).count() / times;
}

class OnAGpu : public testing::Test {
 protected:
  void SetUp() override {
    try {
      worker_ = call_roster("cuda", {test::bin_folder}).workers.front();
    } catch (const DeviceError& error) {
      GTEST_SKIP() << error.what();
    }
    device_ = *worker_.hello.device;
    if (is_mig(device_.uuid)) GTEST_SKIP() << device_.name << " is a slice";
  }

  WorkerFacts worker_;
  DeviceFacts device_;
};

TEST_F(OnAGpu, TheDriverCompletesTheFacts) {
  EXPECT_TRUE(device_.uuid.starts_with("GPU-")) << device_.uuid;
  EXPECT_FALSE(device_.driver.empty());
  EXPECT_FALSE(device_.pci.empty());
  ASSERT_TRUE(device_.clock_mhz);
  EXPECT_GT(*device_.clock_mhz, 300);
  EXPECT_LT(*device_.clock_mhz, 5000);
  EXPECT_GT(device_.power_limit_w.value_or(100), 5);  // a virtual machine may not tell
  EXPECT_LT(device_.power_limit_w.value_or(100), 5000);
  EXPECT_GT(device_.memory_clock_mhz.value_or(1000), 100);
}

TEST_F(OnAGpu, ReadingsArePlausibleAndCheap) {
  std::string why;
  const auto monitor = GpuMonitor::open(device_.uuid, why);
  ASSERT_TRUE(monitor) << why;
  const std::vector<Reading> readings = readings_at_work(worker_, *monitor);
  for (const Reading& reading : readings) {
    EXPECT_GT(reading.clock_mhz.value_or(100), 50);
    EXPECT_LE(reading.clock_mhz.value_or(100), 1.05 * *device_.clock_mhz);
  }
  const double each_ms = milliseconds_of_a_reading(*monitor);
  EXPECT_LT(each_ms, 20) << "longer than the time between two";
  Row row;
  note_readings(row, readings, device_.clock_mhz);
  std::cout << readings.size() << " readings, " << each_ms
            << " ms each: " << row.clock_mhz.value_or(0) << " of " << *device_.clock_mhz << " MHz";
  for (const std::string& flag : row.flags) std::cout << ", " << flag;
  std::cout << "\n";
}

}  // namespace
}  // namespace flashbench
