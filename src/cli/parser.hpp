// Words of a command line against a table of options. The only user of CLI11.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace flashbench {

struct Option {
  std::string name;   // without its dashes
  std::string value;  // what help calls its value; empty: a flag
  std::string group;  // heading in help; empty: not shown
  std::string help;
  bool repeats;  // may be given more than once
  // Called once if the option was given, with its values in order. Throws UsageError, before which
  // the option's name is put.
  std::function<void(const std::vector<std::string>&)> apply;
};

struct Command {
  std::string name, usage, intro, examples;
  std::string files;  // what help calls what stands free; empty: nothing may
  std::size_t least_files = 0, most_files = 0;
  std::vector<Option> options;
};

// Applies the options that `arguments` give, in the table's order, and returns what stands free.
// Throws UsageError: unknown option (with the nearest), missing or repeated value, too many files.
std::vector<std::string> parse_arguments(const Command&, const std::vector<std::string>& arguments);
std::string help_of(const Command&);

}  // namespace flashbench
