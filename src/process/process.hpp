// A worker program as a child process: started with one end of a socket pair, in its own process
// group, and never left behind.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace flashbench {

// The program cannot be started; names it and the cause.
struct ProcessError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Process {
 public:
  // Starts `program arguments... --descriptor N`. Its stdin and stdout are /dev/null, its stderr is
  // kept for the crash report. The kernel kills it when the thread that started it ends.
  Process(const std::string& program, const std::vector<std::string>& arguments);
  ~Process();  // kills and reaps
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t id() const { return id_; }
  // This side's end of the socket pair; the caller owns it from now on.
  int take_descriptor();
  // Gives it `patience` to end by itself, then kills its whole group. Returns how it ended, to
  // follow a subject: "was killed by signal 11 (Segmentation fault)", with its last words on stderr
  // if there are any. May be called again.
  std::string end(std::chrono::milliseconds patience);
  // Whether it has ended by itself, with status 0: as if its work were done.
  bool left() const { return left_; }
  // Keeps a worker that talks a lot from filling memory.
  void trim_words();

 private:
  std::string cause(int status, bool ended_here) const;
  std::string last_words() const;

  pid_t id_ = -1;
  int descriptor_ = -1;
  int words_ = -1;  // an anonymous file that is its stderr
  std::string cause_;
  bool left_ = false;
};

}  // namespace flashbench
