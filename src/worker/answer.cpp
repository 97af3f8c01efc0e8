#include "worker/answer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <new>
#include <string_view>

#include "protocol/channel.hpp"
#include "record/write_error.hpp"
#include "worker/device_backend.hpp"

namespace flashbench {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto between_signs = std::chrono::milliseconds(100);

// One sentence on one line.
std::string sentence(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.empty() ? "no reason was given" : text;
}

Reply refused(std::int64_t id, Status status, const std::string& reason,
              std::optional<std::int64_t> needed = std::nullopt) {
  Reply reply;
  reply.id = id;
  reply.status = status;
  reply.reason = sentence(reason);
  reply.needed_bytes = needed;
  return reply;
}

Reply reply_to(const Request& request, const Answer& answer, const Tell& tell) {
  try {
    Reply reply;
    reply.id = request.id;
    reply.body = answer(request.body, tell);
    return reply;
  } catch (const Refusal& refusal) {
    return refused(request.id, refusal.status, refusal.what(), refusal.needed_bytes);
  } catch (const DeviceFailure& failure) {
    return refused(request.id, failure.out_of_memory ? Status::oom : Status::failed,
                   failure.what());
  } catch (const WriteError& failure) {
    Reply reply = refused(request.id, Status::failed, failure.what());
    reply.unwritten = true;
    return reply;
  } catch (const std::bad_alloc&) {
    return refused(request.id, Status::oom, "the host's memory is exhausted");
  } catch (const std::exception& failure) {
    return refused(request.id, Status::failed, failure.what());
  } catch (...) {
    return refused(request.id, Status::failed, "something that is not a std::exception was thrown");
  }
}

// False when the conversation is over.
bool converse(Channel& channel, const std::string& line, const Answer& answer) {
  Request request;
  try {
    request = parse_request(line);
  } catch (const std::exception& failure) {
    return channel.write_line(to_line(refused(0, Status::failed, failure.what())));
  }
  auto last = Clock::now();
  const Tell tell = [&](double done, double of, const std::string& what) {
    if (Clock::now() - last < between_signs) return;
    last = Clock::now();
    channel.write_line(to_line(Progress{request.id, done, of, what}));
  };
  std::string text = to_line(reply_to(request, answer, tell));
  if (text.size() > longest_line)
    text = to_line(
        refused(request.id, Status::failed,
                fmt::format("the reply has {} bytes, more than a line may have", text.size())));
  return channel.write_line(text) && !std::holds_alternative<request::Bye>(request.body);
}

}  // namespace

int answer_requests(int descriptor, const Answer& answer) {
  // An interrupt from the terminal reaches the whole group; what it means is the front's to decide.
  std::signal(SIGINT, SIG_IGN);
  Channel channel(descriptor);
  std::string line;
  while (true) {
    const Channel::Read read = channel.read_line(line);
    if (read == Channel::Read::closed) return 0;
    if (read == Channel::Read::too_long) return 2;
    if (read == Channel::Read::line && !converse(channel, line, answer)) return 0;
  }
}

std::optional<int> descriptor_argument(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string_view(argv[i]) != "--descriptor") continue;
    int descriptor = -1;
    const char* end = argv[i + 1] + std::strlen(argv[i + 1]);
    const auto [stop, error] = std::from_chars(argv[i + 1], end, descriptor);
    if (error == std::errc() && stop == end && descriptor >= 0) return descriptor;
  }
  return std::nullopt;
}

void send_stdout_to_stderr() {
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

}  // namespace flashbench
