// What the front sees of a GPU while it measures there: a fake driver library, a fake worker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cmath>

#include "device/fake_nvml.hpp"
#include "device/lock.hpp"
#include "record/json.hpp"
#include "roster/roster.hpp"
#include "schedule/fake_run.hpp"
#include "support/places.hpp"

namespace flashbench::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Clock = std::chrono::steady_clock;
constexpr const char* a100 = "NVIDIA A100-SXM4-80GB";

// A machine with GPUs, in CUDA's order, and what the driver says of them.
class Machine {
 public:
  explicit Machine(const std::string& driver,
                   const std::string& gpus = "GPU-a " + std::string(a100))
      : driver_("driver 580.65.06\n" + driver) {
    setenv("FAKE_GPUS", gpus.c_str(), 1);
    setenv("TMPDIR", folder_.path().c_str(), 1);  // locks of its own
    std::filesystem::create_symlink(fake_worker, folder_ / "flashbench-worker-cuda");
    std::filesystem::create_symlink(fake_worker, folder_ / "flashbench-judge");
  }
  ~Machine() {
    unsetenv("FAKE_GPUS");
    unsetenv("TMPDIR");
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  Roster roster(const std::string& device = "0") const {
    return call_roster(device, {folder_.path()});
  }
  ScheduleResult run(const std::vector<std::string>& impls, const std::string& device = "0") {
    Plan plan = plan_of(impls);
    for (Case& what : plan.cases) what.backend = Backend::cuda;
    const Roster called = roster(device);
    return run_plan(plan, called, quick(), told_.events());
  }
  Row row(const std::string& impl = "ok", const std::string& device = "0") {
    return run({impl}, device).rows.at(0);
  }
  const std::vector<std::string>& warnings() const { return told_.warnings; }

 private:
  Folder folder_;
  FakeNvml driver_;
  Told told_;
};

// Seconds that `work` takes.
template <class Work>
double seconds_of(const Work& work) {
  const auto started = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - started).count();
}

// How often a worker is looked away from while it does this.
int looks_during(const request::Any& body) {
  WorkerLink worker = link_to(fake_roster().workers.front(), 10);
  int looks = 0;
  worker.ask(body, {}, [&] { ++looks; });
  return looks;
}

TEST(Watch, ReadsEachTurnAtLeastOnceAndAtMostEvery20Ms) {
  EXPECT_EQ(looks_during(request::Drop{}), 1) << "an answer that comes at once";
  request::Run turn;
  turn.impl = "long";  // 600 ms, and progress every 100 ms
  const int looks = looks_during(turn);
  EXPECT_GE(looks, 6);
  EXPECT_LE(looks, 31);
}

TEST(Watch, KeepsARowWhoseClockIsHeldDownAndFlagsIt) {  // B10
  double normal_s = 0;
  {
    Machine machine("GPU-a clock=1410 max_clock=1410 reasons=0");
    Row row;
    normal_s = seconds_of([&] { row = machine.row("long"); });
    EXPECT_EQ(row.clock_mhz, 1410);
    EXPECT_THAT(row.flags, Not(Contains("throttled")));
  }
  Machine machine("GPU-a clock=827 max_clock=1410 reasons=0");
  Row row;
  EXPECT_LT(seconds_of([&] { row = machine.row("long"); }), 2 * normal_s);
  EXPECT_EQ(row.status, Status::ok) << row.reason;
  EXPECT_EQ(row.clock_mhz, 827);
  EXPECT_THAT(row.flags, Contains("throttled"));
  EXPECT_THAT(row_line(row), HasSubstr("\"throttled\":true"));
  ASSERT_TRUE(row.time && row.tflops);
  EXPECT_GE(row.time->n, 10);
  EXPECT_TRUE(std::isfinite(row.time->median) && std::isfinite(*row.tflops));
}

TEST(Watch, FlagsTheRowsThatThePowerLimitHeldDown) {
  Machine machine("GPU-a clock=1200 max_clock=1980 reasons=0x4");
  const Row row = machine.row();
  EXPECT_EQ(row.clock_mhz, 1200);
  EXPECT_THAT(row.flags, ElementsAre("power_capped"));
  EXPECT_THAT(row_line(row), HasSubstr("\"throttled\":false"));
}

TEST(Watch, FlagsTheRowsThatMetAnotherProcess) {
  EXPECT_THAT(Machine("GPU-a pids=self,1").row().flags, ElementsAre("contended"));
  EXPECT_THAT(Machine("GPU-a pids=self").row().flags, IsEmpty());
}

TEST(Watch, ReadsTheDeviceThatCudaNamedWhateverTheDriversOrder) {  // C18
  const std::string driver =
      "GPU-a clock=1980 max_clock=1980 pci=00000000:19:00.0\n"
      "GPU-b clock=345 max_clock=1410 pci=00000000:5D:00.0";
  for (const auto& [gpus, uuid] :
       {std::pair{"GPU-b B,GPU-a A", "GPU-b"}, std::pair{"GPU-a A,GPU-b B", "GPU-a"}}) {
    Machine machine(driver, gpus);
    const DeviceFacts device = *machine.roster("0").workers.front().hello.device;
    const bool is_b = device.uuid == "GPU-b";
    EXPECT_EQ(device.uuid, uuid);
    EXPECT_EQ(device.clock_mhz, is_b ? 1410 : 1980);
    EXPECT_EQ(device.pci, is_b ? "00000000:5D:00.0" : "00000000:19:00.0");
    EXPECT_EQ(machine.row("ok", "0").clock_mhz, is_b ? 345 : 1980);
    EXPECT_EQ(machine.row("ok", "1").clock_mhz, is_b ? 1980 : 345);
  }
}

TEST(Watch, LeavesNullWhatTheDriverRefusesAndWarnsOfNothing) {  // C18
  Machine machine("GPU-a");
  const Row row = machine.row();
  EXPECT_EQ(row.status, Status::ok) << row.reason;
  EXPECT_FALSE(row.clock_mhz);
  EXPECT_THAT(row.flags, IsEmpty());
  EXPECT_THAT(machine.warnings(), IsEmpty());
  EXPECT_THAT(row_line(row), HasSubstr("\"clock_mhz\":null"));
}

TEST(Watch, RunsOnAMigSliceWithoutReadingsOrPeak) {  // C18
  const std::string name = a100 + std::string(" MIG 1g.10gb");
  Machine machine("MIG-a clock=1410 max_clock=1410", "MIG-a " + name);
  const DeviceFacts device = *machine.roster().workers.front().hello.device;
  EXPECT_EQ(device.name, name);
  EXPECT_EQ(device.driver, "580.65.06");
  EXPECT_FALSE(device.peak_tflops);
  const ScheduleResult result = machine.run({"ok", "ok:2"});
  for (const Row& row : result.rows) {
    EXPECT_EQ(row.status, Status::ok) << row.reason;
    EXPECT_FALSE(row.clock_mhz);
  }
  EXPECT_THAT(machine.warnings(), ElementsAre(HasSubstr("a MIG slice has no clock of its own")));
}

TEST(Watch, RunsWithoutADriverLibrary) {
  Machine machine("broken");
  const ScheduleResult result = machine.run({"ok", "ok:2"});
  for (const Row& row : result.rows) {
    EXPECT_EQ(row.status, Status::ok) << row.reason;
    EXPECT_FALSE(row.clock_mhz);
  }
  EXPECT_THAT(machine.warnings(), ElementsAre(HasSubstr("Driver Not Loaded")));
}

TEST(Watch, LooksAtNoGpuWhileTheCpuIsMeasured) {
  const FakeNvml fake("GPU-a clock=827 max_clock=1410 reasons=0x4");
  Roster roster = fake_roster();
  roster.workers.front().hello.device->uuid = "GPU-a";
  const Row row = run(plan_of({"ok"}), quick(), roster).rows.at(0);
  EXPECT_FALSE(row.clock_mhz);
  EXPECT_THAT(row.flags, IsEmpty());
}

TEST(Watch, WaitsForAnotherRunOnTheSameGpu) {
  Machine machine("GPU-a clock=1410");
  std::array<int, 2> locked{};
  ASSERT_EQ(pipe(locked.data()), 0);
  const pid_t other = fork();
  if (other == 0) {
    const GpuLock lock("GPU-a", {}, {});
    if (write(locked[1], "x", 1) == 1) usleep(300'000);
    _exit(0);
  }
  char answer = 0;
  ASSERT_EQ(read(locked[0], &answer, 1), 1);
  Row row;
  EXPECT_GE(seconds_of([&] { row = machine.row(); }), 0.25);
  EXPECT_EQ(row.status, Status::ok) << row.reason;
  EXPECT_THAT(machine.warnings(), ElementsAre(HasSubstr("process " + std::to_string(other))));
  waitpid(other, nullptr, 0);
  close(locked[0]);
  close(locked[1]);
}

TEST(Watch, CanBeInterruptedWhileItWaits) {
  Machine machine("GPU-a clock=1410");
  const GpuLock other("GPU-a", {}, {});
  Plan plan = plan_of({"ok"});
  plan.cases.front().backend = Backend::cuda;
  ScheduleEvents events;
  events.warning = [](const std::string&) { raise(SIGINT); };
  const ScheduleResult result = run_plan(plan, machine.roster(), quick(), events);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.rows.at(0).status, Status::not_run);
}

}  // namespace
}  // namespace flashbench::test
