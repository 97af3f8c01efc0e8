#include "record/unrecorded.hpp"

#include <algorithm>

#include "record/json_parts.hpp"

namespace flashbench {

using namespace parts;

namespace {

using Paths = std::set<std::string>;

bool holds_objects(const Json& list) {
  return list.is_array() && !list.empty() && list.front().is_object();
}

void collect(const Json& read, const Json& written, const std::string& path, Paths& paths) {
  const auto below = [&](const std::string& key) { return path.empty() ? key : path + "/" + key; };
  if (written.is_object()) {
    for (const auto& [key, value] : written.items())
      collect(member(read, key.c_str()), value, below(key), paths);
  } else if (holds_objects(written) && holds_objects(read)) {
    for (std::size_t i = 0; i < std::min(read.size(), written.size()); ++i)
      collect(read[i], written[i], below(std::to_string(i)), paths);
  } else if (read.is_null() && !written.is_null()) {
    paths.insert(path);
  }
}

// What makes a key.
bool is_of_an_axis(const std::string& path) {
  return path.starts_with("problem/") || path == "impl" || path == "pass" || path == "source" ||
         path == "backend" || path == "cache";
}

// A sum over operands is known where any operand is.
void forgive_sums(const Json& read, Paths& paths) {
  const auto has_operands = [](const Json& traffic) {
    return member(traffic, "read").is_object() || member(traffic, "written").is_object();
  };
  const Json& kernels = read_list(read_object(read, "cost"), "kernels");
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (has_operands(member(kernels[i], "traffic")))
      paths.erase("cost/kernels/" + std::to_string(i) + "/traffic/total_bytes");
  if (has_operands(member(read_object(read, "counts"), "traffic")))
    paths.erase("counts/traffic/total_bytes");
}

// "traffic" repeats the sums over "cost" and "counts".
void follow_sums(Paths& paths) {
  std::erase_if(paths, [](const std::string& path) { return path.starts_with("traffic/"); });
  if (std::ranges::any_of(paths, [](const std::string& path) {
        return path.starts_with("cost/kernels/") && path.ends_with("/total_bytes");
      }))
    paths.insert("traffic/model");
  if (paths.contains("counts/traffic/total_bytes")) paths.insert("traffic/host");
}

}  // namespace

std::set<std::string> paths_not_in(const Json& read, const Json& written) {
  Paths paths;
  collect(read, written, "", paths);
  return paths;
}

void take_out(Json& written, const std::set<std::string>& paths) {
  for (const std::string& path : paths) {
    Json* at = &written;
    for (std::size_t begin = 0; at && begin <= path.size();) {
      const std::size_t end = std::min(path.find('/', begin), path.size());
      const std::string key = path.substr(begin, end - begin);
      begin = end + 1;
      if (at->is_array())
        at = &at->at(std::stoul(key));
      else
        at = at->is_object() && at->contains(key) ? &(*at)[key] : nullptr;
    }
    if (at) *at = nullptr;
  }
}

std::set<std::string> unrecorded_of_row(const Json& read, const Json& written) {
  Paths paths = paths_not_in(read, written);
  if (!member(written, "time_ms").is_null()) paths.erase("status");  // it is ok: it was timed
  if (!member(read, "flags").is_null()) paths.erase("throttled");
  if (!paths.contains("init")) paths.erase("problem/init");
  if (!paths.contains("problem/init")) paths.erase("init");
  forgive_sums(read, paths);
  follow_sums(paths);
  if (std::ranges::none_of(paths, is_of_an_axis)) paths.erase("key");
  return paths;
}

std::set<std::string> unrecorded_of_report(const Json& read, const Json& written) {
  return paths_not_in(read, written);
}

}  // namespace flashbench
