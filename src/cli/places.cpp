#include "cli/places.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "report/report.hpp"

namespace flashbench {

namespace {

namespace fs = std::filesystem;
constexpr const char* no_output = "/dev/null";

struct Place {
  std::string name;  // as the user knows it: "--json r.json"
  std::string path;
  bool written = true;
  std::string shared;  // places with the same word here may be one: --json and --resume

  bool is_stdout() const { return path == "-" || path == "/dev/stdout"; }
};

// What tells files apart: device and inode of one that is there, else its whole path.
std::string identity(const std::string& path) {
  struct stat facts = {};
  const int found =
      path == "-" ? fstat(STDOUT_FILENO, &facts) : stat(file_behind(path).c_str(), &facts);
  if (found == 0) return fmt::format("{}:{}", facts.st_dev, facts.st_ino);
  return path == "-" ? path : file_behind(path).string();
}

bool stdout_is_a_file() {
  struct stat facts = {};
  return fstat(STDOUT_FILENO, &facts) == 0 && S_ISREG(facts.st_mode);
}

bool lies_below(const Place& inner, const Place& outer) {
  if (inner.is_stdout() || outer.is_stdout()) return false;
  const std::string folder = file_behind(outer.path).string() + "/";
  return file_behind(inner.path).string().starts_with(folder);
}

std::vector<Place> reports_of(const Options& options) {
  std::vector<Place> places;
  for (const auto& [format, file] : options.outputs)
    places.push_back(
        {fmt::format("--{} {}", format, file), file, true, format == "json" ? "report" : ""});
  if (const std::string json = options.output("json"); !json.empty() && is_plain_file(json)) {
    const std::string journal = journal_of(json);
    places.push_back({"the journal " + journal + " of --json", journal, true, "journal"});
  }
  if (std::ranges::none_of(places, &Place::is_stdout) && stdout_is_a_file())
    places.push_back({"stdout", "-", true, ""});
  return places;
}

std::vector<Place> read_by(const Options& options, const std::vector<ReadFile>& more) {
  std::vector<ReadFile> files = more;
  files.push_back({"--baseline", options.baseline_file});
  for (const std::string& plugin : options.plugins) files.push_back({"--plugin", plugin});
  if (!options.load_dir.empty())
    for (const char* name : {"q.npy", "k.npy", "v.npy", "do.npy", "case.json"})
      files.push_back({"--load", (fs::path(options.load_dir) / name).string()});
  std::vector<Place> places;
  for (const auto& [option, path] : files)
    if (!path.empty()) places.push_back({fmt::format("{} {}", option, path), path, false, ""});
  if (const std::string& file = options.resume_file; !file.empty()) {
    places.push_back({"--resume " + file, file, false, "report"});
    const std::string journal = journal_of(file);
    places.push_back({"the journal " + journal + " of --resume", journal, false, "journal"});
  }
  return places;
}

void refuse_one_place(const Place& one, const Place& other) {
  if (!one.written && !other.written) return;
  if (!one.shared.empty() && one.shared == other.shared) return;
  const std::string both = fmt::format("{} and {}", one.name, other.name);
  if (one.is_stdout() && other.is_stdout())
    throw UsageError(fmt::format("{} both go to stdout: only one output may be \"-\"", both));
  const std::string same = identity(one.path);
  if (same != identity(other.path) || same == identity(no_output)) return;
  throw UsageError(fmt::format(
      "{} are one file: {}", both,
      one.written && other.written ? "each output needs its own" : "it would be written over"));
}

}  // namespace

std::string journal_of(const std::string& report) {
  return file_behind(report).string() + ".journal";
}

bool is_plain_file(const std::string& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  return path != "-" && (!fs::exists(status) || fs::is_regular_file(status));
}

bool are_one_file(const std::string& one, const std::string& other) {
  return !one.empty() && !other.empty() && identity(one) == identity(other);
}

void check_places(const Options& options, const std::vector<ReadFile>& read) {
  std::vector<Place> places = reports_of(options);
  const std::size_t files = places.size();
  if (!options.dump_dir.empty())
    places.push_back({"--dump " + options.dump_dir, options.dump_dir, true, ""});
  for (std::size_t i = 0; i < places.size(); ++i)
    for (std::size_t j = 0; j < files; ++j)
      if (i != j && lies_below(places[i], places[j]))
        throw UsageError(
            fmt::format("{} lies below {}, which is no folder", places[i].name, places[j].name));
  for (Place& place : read_by(options, read)) places.push_back(std::move(place));
  for (std::size_t i = 0; i < places.size(); ++i)
    for (std::size_t j = i + 1; j < places.size(); ++j) refuse_one_place(places[i], places[j]);
}

}  // namespace flashbench
