#include "compare/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compare/differences.hpp"
#include "record/text.hpp"

namespace flashbench {

namespace {

Report without_rows(Report report) {
  report.rows.clear();
  report.origins.clear();
  return report;
}

class Merger {
 public:
  void add(const NamedReport& named) {
    first_of_file_ = result_.report.rows.size();
    replaced_ = 0;
    replaced_in_.clear();
    std::map<const Report*, std::size_t> places;
    for (const Row& row : named.report.rows) {
      const Report& top = origin_of(named.report, row);
      if (!places.contains(&top)) places[&top] = add_origin(named.file, top);
      add_row(row, top, places.at(&top), named.file);
    }
    if (named.report.rows.empty()) add_origin(named.file, named.report);
    if (replaced_ > 0)
      notice("{}: {} of its rows stand in {} too; those of {} are shown", named.file, replaced_,
             fmt::join(replaced_in_, ", "), named.file);
  }

  Merged finish() {
    Report& report = result_.report;
    std::vector<Report> origins = std::move(report.origins);
    std::vector<Row> rows = std::move(report.rows);
    report = origins.front();
    for (const Report& origin : origins) report = common_top(report, origin);
    report.complete = std::ranges::all_of(origins, [](const Report& origin) {
      return recorded(origin, "complete", origin.complete).value_or(true);
    });
    report.unrecorded.erase("complete");
    report.origins = std::move(origins);
    report.rows = std::move(rows);
    return std::move(result_);
  }

 private:
  template <class... Values>
  void notice(fmt::format_string<Values...> text, Values&&... values) {
    result_.notices.push_back(fmt::format(text, std::forward<Values>(values)...));
  }

  std::size_t add_origin(const std::string& file, const Report& top) {
    std::vector<Report>& origins = result_.report.origins;
    const std::size_t place = origins.size();
    std::size_t like = place;  // the first one that this one is comparable with
    std::vector<std::string> differing;
    for (std::size_t i = place; i-- > 0;) {
      const std::vector<std::string> fields = differing_fields(origins[i], top);
      if (fields.empty())
        like = i;
      else
        differing = fields;
    }
    for (const std::string& field : differing) result_.differing.push_back(file + ": " + field);
    if (place > 0)
      for (const std::string& field : lesser_differences(origins.front(), top))
        notice("{}: {}", file, field);
    origins.push_back(without_rows(top));
    like_.push_back(like);
    return place;
  }

  void add_row(Row row, const Report& top, std::size_t origin, const std::string& file) {
    row.origin = origin;
    if (row.label.empty()) row.label = top.label;
    std::vector<Row>& rows = result_.report.rows;
    const bool has_key = !row.unrecorded.contains("key");
    const std::pair key{like_[origin], identity(row)};
    const auto known = places_.find(key);
    if (has_key && known != places_.end() && known->second < first_of_file_) {
      if (row.status == Status::not_run) return;
      ++replaced_;
      replaced_in_.insert(std::exchange(files_[known->second], file));
      rows[known->second] = std::move(row);
      return;
    }
    if (has_key) places_[key] = rows.size();
    files_.push_back(file);
    rows.push_back(std::move(row));
  }

  Merged result_;
  std::vector<std::size_t> like_;   // of each origin
  std::vector<std::string> files_;  // of each row
  std::map<std::pair<std::size_t, std::string>, std::size_t> places_;
  std::size_t first_of_file_ = 0, replaced_ = 0;
  std::set<std::string> replaced_in_;
};

}  // namespace

Merged merge(const std::vector<NamedReport>& files) {
  if (files.size() == 1) return {files.front().report, {}, {}};
  Merger merger;
  for (const NamedReport& named : files) merger.add(named);
  return merger.finish();
}

}  // namespace flashbench
