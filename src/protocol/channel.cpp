#include "protocol/channel.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "record/messages.hpp"

namespace flashbench {

namespace {

using Clock = std::chrono::steady_clock;

// Milliseconds for poll; -1 waits for ever. Rounded up, so that a wait never spins.
int poll_wait(const std::optional<Clock::time_point>& deadline) {
  if (!deadline) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 1'000'000'000));
}

}  // namespace

Channel::~Channel() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Channel::Channel(Channel&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), buffer_(std::move(other.buffer_)) {}

Channel& Channel::operator=(Channel&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(buffer_, other.buffer_);
  return *this;
}

bool Channel::write_line(std::string_view line) {
  std::string text(line);
  text += '\n';
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = ::send(descriptor_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n >= 0) {
      sent += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd ready{descriptor_, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

Channel::Read Channel::read_line(std::string& line, std::optional<std::chrono::milliseconds> wait) {
  std::optional<Clock::time_point> deadline;
  if (wait) deadline = Clock::now() + *wait;
  std::size_t searched = 0;
  while (true) {
    const std::size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      if (end > longest_line) return Read::too_long;
      line.assign(buffer_, 0, end);
      buffer_.erase(0, end + 1);
      return Read::line;
    }
    if (buffer_.size() > longest_line) return Read::too_long;
    searched = buffer_.size();

    pollfd ready{descriptor_, POLLIN, 0};
    const int polled = ::poll(&ready, 1, poll_wait(deadline));
    if (polled == 0) return Read::timed_out;
    if (polled < 0) return errno == EINTR ? Read::interrupted : Read::closed;
    char chunk[1 << 13];  // stacks may be small
    const ssize_t n = ::read(descriptor_, chunk, sizeof chunk);
    if (n > 0) {
      buffer_.append(chunk, static_cast<std::size_t>(n));
    } else if (n == 0) {
      return Read::closed;
    } else if (errno == EINTR) {
      return Read::interrupted;
    } else if (errno != EAGAIN && errno != EWOULDBLOCK) {
      return Read::closed;
    }
  }
}

}  // namespace flashbench
