// The other programs of the house as processes, for a Peer to talk to.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "support/places.hpp"

namespace flashbench::testing {

// Runs `program --descriptor N` and returns its exit code; -1 where a signal ended it.
inline int spawn(const std::string& program, int descriptor) {
  const std::string path = test::in_bin(program), number = std::to_string(descriptor);
  const pid_t child = ::fork();
  if (child == 0) {
    ::fcntl(descriptor, F_SETFD, 0);  // the only one that the program is to inherit
    ::execl(path.c_str(), path.c_str(), "--descriptor", number.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(descriptor);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace flashbench::testing
