// The worker's side of the private protocol: one request after the other, each answered whatever
// happens. Shared by the workers and the judge.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include "record/messages.hpp"

namespace flashbench {

// An answer that is not ok.
struct Refusal : std::runtime_error {
  Refusal(Status why, const std::string& reason, std::optional<std::int64_t> needed = std::nullopt)
      : std::runtime_error(reason), status(why), needed_bytes(needed) {}
  Status status;
  std::optional<std::int64_t> needed_bytes;
};

// Says that work was finished; lines go out a few times a second at most.
using Tell = std::function<void(double done, double of, const std::string& what)>;
// Returns the reply to a request, or throws: Refusal, DeviceFailure, std::bad_alloc (oom), any
// other std::exception (failed).
using Answer = std::function<reply::Any(const request::Any&, const Tell&)>;

// Until bye or until the other end closes; the exit code of main.
int answer_requests(int descriptor, const Answer&);

// Of `--descriptor N`; nothing when the arguments are otherwise. Further arguments are ignored.
std::optional<int> descriptor_argument(int argc, char** argv);
// What kernels and libraries print goes to stderr: stdout belongs to the front.
void send_stdout_to_stderr();

}  // namespace flashbench
