// What Linux says of a machine, read from a folder that looks like one.
#include "doctor/machine.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/temporary_folder.hpp"

namespace flashbench {
namespace {

class Machine : public ::testing::Test {
 protected:
  void says(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_.path() / path).parent_path());
    root_.write(path, text + "\n");
  }
  std::string root() const { return root_.path().string(); }
  const test::TemporaryFolder root_;
};

TEST_F(Machine, is_read_from_proc_and_sys) {
  says("proc/loadavg", "3.25 2.00 1.00 2/100 1234");
  says("sys/fs/cgroup/cpu.max", "150000 100000");
  says("sys/devices/system/cpu/intel_pstate/no_turbo", "0");
  says("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave");
  says("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2400000");
  says("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3500000");
  const MachineState machine = read_machine(root());
  EXPECT_EQ(machine.load, 3.25);
  EXPECT_EQ(machine.cpu_quota, 1.5);
  EXPECT_EQ(machine.turbo, true);
  EXPECT_EQ(machine.governor, "powersave");
  EXPECT_EQ(machine.clock_mhz, 2400);
  EXPECT_EQ(machine.highest_clock_mhz, 3500);
  EXPECT_GE(machine.cpus, 1);
}

TEST_F(Machine, that_says_nothing_is_not_known) {
  const MachineState machine = read_machine(root());
  EXPECT_FALSE(machine.load);
  EXPECT_FALSE(machine.cpu_quota);
  EXPECT_FALSE(machine.turbo);
  EXPECT_FALSE(machine.clock_mhz);
  EXPECT_EQ(machine.governor, "");
  EXPECT_FALSE(read_cpu_times(root()));
}

TEST_F(Machine, without_a_limit_of_its_control_group_has_no_quota) {
  says("sys/fs/cgroup/cpu.max", "max 100000");
  EXPECT_FALSE(read_machine(root()).cpu_quota);
}

TEST_F(Machine, of_another_maker_says_turbo_in_another_place) {
  says("sys/devices/system/cpu/cpufreq/boost", "0");
  EXPECT_EQ(read_machine(root()).turbo, false);
}

TEST_F(Machine, is_as_busy_as_its_cpus_were_between_two_readings) {
  says("proc/stat", "cpu  100 0 50 800 50 0 0 10 0 0");
  const auto before = read_cpu_times(root());
  says("proc/stat", "cpu  160 0 70 900 50 0 0 30 0 0");
  const auto after = read_cpu_times(root());
  ASSERT_TRUE(before && after);
  EXPECT_DOUBLE_EQ(*busy_share(*before, *after), 0.5);
  EXPECT_DOUBLE_EQ(*stolen_share(*before, *after), 0.1);
  EXPECT_FALSE(busy_share(*before, *before)) << "no time has passed";
}

}  // namespace
}  // namespace flashbench
