// What goes to stderr while a run goes on: progress on a terminal only, warnings always.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>

namespace flashbench {

// To stderr; one that cannot be written to is no reason to stop.
template <class... Values>
void print_error(fmt::format_string<Values...> text, Values&&... values) {
  std::fputs(fmt::format(text, std::forward<Values>(values)...).c_str(), stderr);
}
// Opens what the caller closed of stdin, stdout and stderr, so that no other file takes its number.
// Writing to a stdout that was closed still fails. A file that grows too large is an error of the
// write, not the end of the process.
void prepare_process();

bool is_terminal(int descriptor);
// Whether stdout may be coloured: a terminal, and no NO_COLOR.
bool may_color_stdout();

class Console {
 public:
  Console();
  ~Console() { clear(); }
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  // Overwrites the last progress; nothing off a terminal.
  void progress(const std::string& what, std::size_t done, std::size_t of, double seconds_left);
  // A line of its own on a terminal, nothing elsewhere.
  void note(const std::string& line);
  // "flashbench: sentence", everywhere.
  void warn(const std::string& sentence);

 private:
  void clear();
  bool terminal_, dirty_ = false;
};

}  // namespace flashbench
