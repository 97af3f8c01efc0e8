// Workers beside the built-in ones, in the same rounds: plugins, and other builds of flashbench.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "roster/roster.hpp"

namespace flashbench {

struct Guests {
  std::vector<std::string> plugins;  // a shared library, or a Python file (.py), each
  // Install or build folders of flashbench, each as FOLDER or LABEL=FOLDER.
  std::vector<std::string> against;
  bool peers = false;                    // the bundled plugin of PyTorch and the packages around it
  double timeout_s = default_timeout_s;  // for each to say hello
};

// A guest that cannot be had; one sentence that names it. Nothing ran.
struct GuestError : std::runtime_error {
  GuestError(const std::string& what, bool other_method)
      : std::runtime_error(what), incomparable(other_method) {}
  bool incomparable;  // it measures by another method (exit 6), else exit 2
};

// Whether a word of --impl names implementations that only the bundled peers have.
bool names_peers(const std::string& pattern);
// Says hello to each on the device that the roster resolved to and adds it to the roster. The
// bundled peers are no error when they cannot start: their rows are unsupported then.
void invite(Roster&, const Guests&);
// What is known of the bundled peers where they cannot be asked.
WorkerFacts absent_peers(Backend, const std::string& why);

}  // namespace flashbench
