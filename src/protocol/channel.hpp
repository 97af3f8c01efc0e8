// Lines over one end of a socket pair. Used by the front and by every worker; knows nothing of what
// the lines say.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace flashbench {

class Channel {
 public:
  explicit Channel(int descriptor) : descriptor_(descriptor) {}  // takes ownership
  ~Channel();
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&& other) noexcept;

  int descriptor() const { return descriptor_; }
  // Adds the newline; retries on EINTR, never raises SIGPIPE. False when the other end is gone.
  bool write_line(std::string_view line);
  enum class Read { line, closed, timed_out, too_long, interrupted };
  // Waits until a whole line is there. `interrupted` when a signal arrived and no line was
  // complete.
  Read read_line(std::string& line, std::optional<std::chrono::milliseconds> wait = std::nullopt);

 private:
  int descriptor_ = -1;
  std::string buffer_;
};

}  // namespace flashbench
