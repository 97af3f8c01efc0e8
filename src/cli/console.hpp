// What goes to stderr while a run goes on: progress on a terminal only, warnings always.
#pragma once

#include <cstddef>
#include <string>

namespace flashbench {

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
