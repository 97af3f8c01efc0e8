// Who the workers are: asks each for its hello and keeps the answers.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "process/link.hpp"
#include "record/messages.hpp"

namespace flashbench {

struct WorkerFacts {
  std::string program;  // absolute path
  std::vector<std::string> arguments;
  std::string source;  // "built-in", "plugin:x", "against:x"
  Backend backend = Backend::cpu;
  reply::Hello hello;
  std::string absent;  // why it cannot be started: its rows are unsupported. Empty: it can.
};

struct Roster {
  Backend backend = Backend::cpu;  // what --device resolved to
  std::vector<WorkerFacts> workers;
  std::string judge_program;
  std::vector<std::string> judge_arguments;
  std::string judge_absent;          // without a judge_program: why
  std::vector<std::string> notices;  // for stderr: "no usable GPU (...): measuring on the CPU"
};

// Of the GPU that all workers share; empty on the CPU.
std::string gpu_uuid(const Roster&);

// The device asked for cannot be used (exit 3); one sentence with the cause.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
  // Its worker where that is in order and describes costs without a device, by hello.stand_in.
  std::optional<WorkerFacts> planner;
};

// What a worker is told in hello: "cpu" or its CUDA ordinal.
std::string hello_device(const WorkerFacts&);
WorkerLink link_to(const WorkerFacts&, double timeout_s);

// Looks for flashbench-worker-cuda, flashbench-worker-cpu and flashbench-judge beside this
// executable or in ../libexec/flashbench, says hello to each that `device` ("auto", "cpu", "cuda",
// ordinal) calls for, and waits `timeout_s` for each.
Roster call_roster(const std::string& device, double timeout_s = default_timeout_s);
// The same, looking only in these folders, in order.
Roster call_roster(const std::string& device, const std::vector<std::string>& folders,
                   double timeout_s = default_timeout_s);
// Throws DeviceError naming the judge where there is none: without it nothing can be checked.
void require_judge(const Roster&);

}  // namespace flashbench
