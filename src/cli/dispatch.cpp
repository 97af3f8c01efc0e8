#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "compare/exit_code.hpp"
#include "plan/request.hpp"
#include "plan/words.hpp"
#include "record/write_error.hpp"
#include "roster/guests.hpp"
#include "version.hpp"

namespace flashbench {

namespace {

struct Entry {
  const char* name;
  int (*run)(const Arguments&);
  std::string (*help)();
};

constexpr Entry entries[] = {
    {"run", run_command, run_help},          {"compare", compare_command, compare_help},
    {"report", report_command, report_help}, {"info", info_command, info_help},
    {"list", list_command, list_help},       {"doctor", doctor_command, doctor_help},
    {"claims", claims_command, claims_help}, {"selftest", selftest_command, selftest_help},
};

const Entry* find_entry(const std::string& name) {
  const auto* found = std::ranges::find_if(entries, [&](const Entry& e) { return e.name == name; });
  return found == std::end(entries) ? nullptr : found;
}

const Entry& entry_of(const std::string& name) {
  if (const Entry* entry = find_entry(name)) return *entry;
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.emplace_back(entry.name);
  throw UsageError(fmt::format("there is no command \"{}\"{} (there are: {})", name,
                               did_you_mean(name, names), listed(names)));
}

bool asks_for_help(const Arguments& words) {
  return std::ranges::any_of(words, [](const auto& w) { return w == "--help" || w == "-h"; });
}

// "help [COMMAND]" is "[COMMAND] --help".
Arguments without_help_word(Arguments words) {
  if (!words.empty() && words[0] == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  return words;
}

int dispatch(const Arguments& typed) {
  const Arguments words = without_help_word(typed);
  if (!words.empty() && words[0] == "--version") {
    fmt::print("flashbench {} ({}; {})\n", tool_version, tool_commit, tool_build);
    return exit_code::ok;
  }
  const bool named = !words.empty() && !words[0].starts_with('-');
  const std::string name = named ? words[0] : "run";
  const Entry& entry = entry_of(name);
  const Arguments rest(words.begin() + (named ? 1 : 0), words.end());
  if (!asks_for_help(rest)) return entry.run(rest);
  std::fputs(entry.help().c_str(), stdout);
  return exit_code::ok;
}

// What a file held must not command the terminal.
int complain(std::string what, int code) {
  for (char& letter : what)
    if (letter != '\n' && std::iscntrl(static_cast<unsigned char>(letter))) letter = ' ';
  print_error("flashbench: {}\n", what);
  return code;
}

}  // namespace

int run_command_line(const Arguments& words) {
  prepare_process();
  try {
    const int code = dispatch(words);
    if (std::fflush(stdout) != 0 || std::ferror(stdout)) throw UsageError("cannot write to stdout");
    return code;
  } catch (const DeviceError& error) {
    return complain(error.what(), exit_code::device);
  } catch (const GuestError& error) {
    return complain(error.what(),
                    error.incomparable ? exit_code::not_comparable : exit_code::usage);
  } catch (const UsageError& error) {
    return complain(error.what(), exit_code::usage);
  } catch (const WriteError& error) {
    return complain(error.what(), exit_code::usage);
  } catch (const std::exception& error) {
    return complain(error.what(), exit_code::failed);
  }
}

}  // namespace flashbench
