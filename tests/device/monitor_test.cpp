#include "device/monitor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include "device/fake_nvml.hpp"
#include "device/peaks.hpp"

namespace flashbench::test {
namespace {

using testing::HasSubstr;

Reading reading_of(const std::string& uuid) {
  std::string why;
  const auto monitor = GpuMonitor::open(uuid, why);
  EXPECT_TRUE(monitor) << why;
  return monitor ? monitor->read() : Reading{};
}

Reading reading(const std::string& words) {
  const FakeNvml fake("GPU-a " + words);
  return reading_of("GPU-a");
}

std::string refusal(const std::string& uuid) {
  std::string why;
  EXPECT_FALSE(GpuMonitor::open(uuid, why));
  return why;
}

DeviceFacts completed(const std::string& uuid, const std::string& name = "") {
  DeviceFacts device;
  device.uuid = uuid;
  device.name = name;
  complete_from_driver(device);
  return device;
}

TEST(Monitor, FindsTheDeviceByUuidWhateverTheOrder) {  // C18
  for (const char* devices :
       {"GPU-a clock=1980\nGPU-b clock=345", "GPU-b clock=345\nGPU-a clock=1980"}) {
    const FakeNvml fake(devices);
    EXPECT_EQ(reading_of("GPU-a").clock_mhz, 1980);
    EXPECT_EQ(reading_of("GPU-b").clock_mhz, 345);
  }
}

TEST(Monitor, SaysWhyAGpuCannotBeWatched) {
  {
    const FakeNvml fake("GPU-a clock=1980");
    EXPECT_THAT(refusal("GPU-c"), HasSubstr("GPU-c: Not Found"));
  }
  {
    const FakeNvml fake("broken");
    EXPECT_THAT(refusal("GPU-a"), HasSubstr("Driver Not Loaded"));
  }
  {
    const FakeNvml fake("GPU-a", "/no/such/libnvidia-ml.so.1");
    EXPECT_THAT(refusal("GPU-a"), HasSubstr("/no/such/libnvidia-ml.so.1"));
  }
  const FakeNvml fake("MIG-a clock=1980");
  EXPECT_THAT(refusal("MIG-a"), HasSubstr("MIG"));
}

TEST(Monitor, TellsWhyClocksAreLow) {
  EXPECT_TRUE(reading("reasons=0x1").idle);
  EXPECT_TRUE(reading("reasons=0x4").power_capped);
  for (const char* slow : {"reasons=0x8", "reasons=0x20", "reasons=0x40", "reasons=0x80"})
    EXPECT_TRUE(reading(slow).slowed) << slow;
  const Reading other = reading("reasons=0x112");  // chosen clocks, synchronised boost, display
  EXPECT_FALSE(other.idle || other.power_capped || other.slowed);
  EXPECT_TRUE(reading("reasons_before_535=0x4").power_capped);
}

TEST(Monitor, TakesARefusedQueryAsNoAnswer) {
  const Reading nothing = reading("");
  EXPECT_FALSE(nothing.clock_mhz);
  EXPECT_FALSE(nothing.idle || nothing.power_capped || nothing.slowed || nothing.contended);
}

TEST(Monitor, TellsOtherProcessesFromItsOwn) {
  EXPECT_FALSE(reading("pids=self").contended);
  EXPECT_TRUE(reading("pids=self,1").contended);
  EXPECT_TRUE(reading("pids=1,self").contended);
}

TEST(Monitor, TakesAllThatItStartedAsItsOwn) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  EXPECT_FALSE(reading("pids=self," + std::to_string(child)).contended);
  EXPECT_FALSE(reading("pids=" + std::to_string(child)).contended);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(Monitor, BlamesNobodyWhereProcessesAreNumberedAsElsewhere) {
  // A container that is shown its host's numbers, or none at all.
  EXPECT_FALSE(reading("pids=1").contended);
  EXPECT_FALSE(reading("pids=").contended);
}

TEST(Monitor, SeesEachOfManyProcesses) {
  std::string pids = "pids=self";
  for (int i = 0; i < 100; ++i) pids += ",self";
  EXPECT_FALSE(reading(pids).contended);
  EXPECT_TRUE(reading(pids + ",1").contended);
}

TEST(Completion, AddsWhatTheDriverKnows) {
  const FakeNvml fake(
      "driver 580.65.06\nGPU-a max_clock=1980 memory_clock=3201 power_limit=700000 "
      "pci=00000000:19:00.0");
  const DeviceFacts device = completed("GPU-a", "NVIDIA H200");
  EXPECT_EQ(device.name, "NVIDIA H200");
  EXPECT_EQ(device.driver, "580.65.06");
  EXPECT_EQ(device.clock_mhz, 1980);
  EXPECT_EQ(device.memory_clock_mhz, 3201);
  EXPECT_EQ(device.power_limit_w, 700);
  EXPECT_EQ(device.pci, "00000000:19:00.0");
}

TEST(Completion, LeavesAloneWhatTheDriverDoesNotTell) {
  DeviceFacts device;
  device.uuid = "GPU-a";
  device.pci = "0000:19:00.0";
  device.clock_mhz = 1755;
  for (const char* devices : {"GPU-a pci=00000000:19:00.0", "GPU-b max_clock=1", "broken"}) {
    const FakeNvml fake(devices);
    complete_from_driver(device);
    EXPECT_EQ(device.pci, "0000:19:00.0");
    EXPECT_EQ(device.clock_mhz, 1755);
    EXPECT_FALSE(device.power_limit_w);
    EXPECT_EQ(device.driver, "");
  }
}

TEST(Completion, NamesTheProfileOfAMigSliceAndGivesItNoPeak) {  // C18
  const FakeNvml fake(
      "driver 580.65.06\nMIG-a name=NVIDIA_A100-SXM4-80GB_MIG_1g.10gb max_clock=1410 "
      "power_limit=400000");
  DeviceFacts device = completed("MIG-a", "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(device.name, "NVIDIA A100-SXM4-80GB MIG 1g.10gb");
  EXPECT_EQ(device.driver, "580.65.06");
  EXPECT_FALSE(device.clock_mhz);
  EXPECT_FALSE(device.power_limit_w);
  device.name = "NVIDIA A100-SXM4-80GB";  // a driver that does not name the profile
  apply_peak(device);
  EXPECT_FALSE(device.peak_tflops);
  EXPECT_FALSE(device.peak_gbps);
}

}  // namespace
}  // namespace flashbench::test
