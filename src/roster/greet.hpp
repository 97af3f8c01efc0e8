// Starts one worker, hears its hello, and lets it go.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/messages.hpp"

namespace flashbench {

struct Greeting {
  std::optional<reply::Hello> hello;
  std::string reason;  // without a hello: why, a sentence about `who`
  bool left = false;   // without a hello: it had nothing to say and ended with status 0
};

// Whoever speaks another protocol is refused here. A device that it lacks is no refusal: see
// hello.device_reason.
Greeting greet(const std::string& who, const std::string& program,
               const std::vector<std::string>& arguments, const std::string& device,
               double timeout_s);

// The first of the folders that has this program, or library; empty when none has it.
std::string find_program(const std::string& name, const std::vector<std::string>& folders);
std::string find_library(const std::string& name, const std::vector<std::string>& folders);
// Why find_program found none: "NAME is not in A or B", or the path of one that may not be
// executed.
std::string why_not_found(const std::string& name, const std::vector<std::string>& folders);
// Beside this executable, and in ../libexec/flashbench.
std::vector<std::string> program_folders();

}  // namespace flashbench
