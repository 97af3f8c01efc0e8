#include "cli/parser.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "plan/request.hpp"
#include "plan/words.hpp"

namespace flashbench {

namespace {

constexpr std::size_t help_column = 24;

std::vector<std::string> names_of(const Command& command) {
  std::vector<std::string> names;
  for (const Option& option : command.options)
    if (!option.group.empty()) names.push_back("--" + option.name);
  names.emplace_back("--help");
  return names;
}

bool is_option(const Command& command, const std::string& word) {
  return std::ranges::any_of(command.options,
                             [&](const Option& option) { return word == "--" + option.name; });
}

// CLI11 would take the next option for the value, or say it in its own terms.
void refuse_missing_values(const Command& command, const std::vector<std::string>& arguments) {
  for (const Option& option : command.options) {
    if (option.value.empty()) continue;
    const std::string flag = "--" + option.name;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const bool last = i + 1 == arguments.size();
      if (arguments[i] == flag + "=" ||
          (arguments[i] == flag && (last || is_option(command, arguments[i + 1]))))
        throw UsageError(fmt::format("{}: the value ({}) is missing", flag, option.value));
    }
  }
}

// --strict=false would say what --strict cannot.
void refuse_given_values(const Command& command, const std::vector<std::string>& arguments) {
  for (const std::string& word : arguments) {
    const std::string flag = word.substr(0, word.find('='));
    const bool takes_none = flag == "--help" || std::ranges::any_of(command.options, [&](auto& o) {
                              return o.value.empty() && flag == "--" + o.name;
                            });
    if (takes_none && flag != word)
      throw UsageError(fmt::format("{} takes no value, and \"{}\" gives it one", flag, word));
  }
}

void refuse_unknown(const Command& command, const std::vector<std::string>& rest) {
  for (const std::string& word : rest) {
    if (word.size() < 2 || word[0] != '-') continue;
    const std::string flag = word.substr(0, word.find('='));
    throw UsageError(fmt::format("there is no option {}{} (flashbench {} --help lists all)", flag,
                                 did_you_mean(flag, names_of(command)), command.name));
  }
  if (rest.size() > command.most_files && command.most_files == 0)
    throw UsageError(fmt::format("\"{}\" stands where an option was expected", rest[0]));
  if (rest.size() > command.most_files)
    throw UsageError(
        fmt::format("\"{}\" is one too many: {}", rest[command.most_files], command.usage));
  if (rest.size() < command.least_files)
    throw UsageError(fmt::format("{} is missing: {}", command.files, command.usage));
}

void apply(const Option& option, const std::vector<std::string>& values) {
  if (!option.repeats && values.size() > 1)
    throw UsageError(fmt::format("--{} is given {} times", option.name, values.size()));
  try {
    option.apply(values);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--{}: {}", option.name, error.what()));
  }
}

std::string help_line(const Option& option) {
  std::string left = "  --" + option.name + (option.value.empty() ? "" : " " + option.value);
  left += left.size() < help_column ? std::string(help_column - left.size(), ' ') : "  ";
  std::string line = left + option.help;
  for (std::size_t at = line.find('\n'); at != line.npos; at = line.find('\n', at + 1))
    line.insert(at + 1, std::string(help_column, ' '));
  return line + "\n";
}

}  // namespace

std::vector<std::string> parse_arguments(const Command& command,
                                         const std::vector<std::string>& arguments) {
  refuse_missing_values(command, arguments);
  refuse_given_values(command, arguments);
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::vector<CLI::Option*> parsed;
  for (const Option& option : command.options) {
    const std::string flag = "--" + option.name;
    if (option.value.empty())
      parsed.push_back(app.add_flag(flag)->disable_flag_override());
    else
      parsed.push_back(app.add_option(flag)->expected(1)->allow_extra_args(false));
    parsed.back()->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  std::vector<std::string> rest = app.remaining();
  refuse_unknown(command, rest);
  for (std::size_t i = 0; i < parsed.size(); ++i)
    if (parsed[i]->count() > 0) apply(command.options[i], parsed[i]->results());
  return rest;
}

std::string help_of(const Command& command) {
  std::string text = fmt::format("Usage: {}\n\n{}\n", command.usage, command.intro);
  std::vector<std::string> groups;
  for (const Option& option : command.options)
    if (!option.group.empty() && std::ranges::find(groups, option.group) == groups.end())
      groups.push_back(option.group);
  for (const std::string& group : groups) {
    text += fmt::format("\n{}\n", group);
    for (const Option& option : command.options)
      if (option.group == group) text += help_line(option);
  }
  if (!command.examples.empty()) text += "\nExamples\n" + command.examples;
  return text;
}

}  // namespace flashbench
