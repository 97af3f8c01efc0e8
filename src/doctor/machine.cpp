#include "doctor/machine.hpp"

#include <sched.h>

#include <sstream>

#include "record/first_line.hpp"

namespace flashbench {

namespace {

std::optional<double> number_in(const std::string& text) {
  std::istringstream stream(text);
  double value = 0;
  return stream >> value ? std::optional(value) : std::nullopt;
}

// sysfs counts in kHz.
std::optional<double> mhz_in(const std::string& path) {
  const std::optional<double> khz = number_in(first_line(path));
  return khz ? std::optional(*khz / 1000) : std::nullopt;
}

// "150000 100000": of each period of 100 ms, 150 ms of CPU time. "max": no limit.
std::optional<double> quota(const std::string& root) {
  std::istringstream limit(first_line(root + "/sys/fs/cgroup/cpu.max"));
  double allowed = 0, period = 0;
  if (!(limit >> allowed >> period) || period <= 0) return std::nullopt;
  return allowed / period;
}

// Of two drivers, each with its own word for it.
std::optional<bool> turbo(const std::string& root) {
  const std::string cpu = root + "/sys/devices/system/cpu/";
  if (const auto off = number_in(first_line(cpu + "intel_pstate/no_turbo"))) return *off == 0;
  if (const auto on = number_in(first_line(cpu + "cpufreq/boost"))) return *on != 0;
  return std::nullopt;
}

std::int64_t usable_cpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

std::optional<double> share(double part, double whole) {
  return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

}  // namespace

MachineState read_machine(const std::string& root) {
  const std::string clock = root + "/sys/devices/system/cpu/cpu0/cpufreq/";
  MachineState machine;
  machine.cpus = usable_cpus();
  machine.load = number_in(first_line(root + "/proc/loadavg"));
  machine.cpu_quota = quota(root);
  machine.governor = first_line(clock + "scaling_governor");
  machine.turbo = turbo(root);
  machine.clock_mhz = mhz_in(clock + "scaling_cur_freq");
  machine.highest_clock_mhz = mhz_in(clock + "cpuinfo_max_freq");
  return machine;
}

std::optional<CpuTimes> read_cpu_times(const std::string& root) {
  std::istringstream stat(first_line(root + "/proc/stat"));
  std::string cpu;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft = 0,
         stolen = 0;
  if (!(stat >> cpu >> user >> nice >> system >> idle >> waiting >> interrupts >> soft >> stolen))
    return std::nullopt;
  CpuTimes times;
  times.busy = user + nice + system + interrupts + soft + stolen;
  times.stolen = stolen;
  times.total = times.busy + idle + waiting;
  return times;
}

std::optional<double> busy_share(const CpuTimes& before, const CpuTimes& after) {
  return share(after.busy - before.busy, after.total - before.total);
}

std::optional<double> stolen_share(const CpuTimes& before, const CpuTimes& after) {
  return share(after.stolen - before.stolen, after.total - before.total);
}

}  // namespace flashbench
