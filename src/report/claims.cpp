#include "report/claims.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "record/json.hpp"
#include "report/grid.hpp"
#include "report/text.hpp"

namespace flashbench {

namespace {

Status color_of(Standing standing) {
  switch (standing) {
    case Standing::holds:
      return Status::ok;
    case Standing::does_not_hold:
      return Status::failed;
    case Standing::cannot_be_tested:
      return Status::unsupported;
  }
  return Status::ok;
}

std::string summary(const std::vector<JudgedClaim>& judged) {
  const auto count = [&](Standing standing) {
    return std::ranges::count(judged, standing,
                              [](const JudgedClaim& each) { return each.finding.standing; });
  };
  return fmt::format("{} claims: {} hold, {} do not hold, {} cannot be tested on this machine",
                     judged.size(), count(Standing::holds), count(Standing::does_not_hold),
                     count(Standing::cannot_be_tested));
}

Grid grid_of(const Report& report, const std::vector<JudgedClaim>& judged) {
  Grid grid;
  if (!report.device.name.empty()) grid.captions.push_back(one_line(report.device.name));
  grid.captions.emplace_back("claims of \"6.2 FlashAttention V2 in depth\"");
  grid.columns = {{"section", false, {}},
                  {"claim", false, {}},
                  {"verdict", false, {}},
                  {"figures", false, {}},
                  {"tested by", false, {}}};
  for (const auto& [claim, finding] : judged) {
    grid.statuses.push_back(color_of(finding.standing));
    const std::string cells[] = {claim->section, claim->claim, std::string(name(finding.standing)),
                                 finding.figures, claim->test};
    for (std::size_t i = 0; i < std::size(cells); ++i)
      grid.columns[i].cells.push_back(or_missing(cells[i]));
  }
  grid.notes.push_back(summary(judged));
  return grid;
}

}  // namespace

std::string render_claims(const Report& report, const std::vector<JudgedClaim>& judged,
                          bool color) {
  return table_text(grid_of(report, judged), color);
}

std::string render_claims_markdown(const Report& report, const std::vector<JudgedClaim>& judged) {
  return markdown_text(grid_of(report, judged));
}

std::string claims_text(const Report& report, const std::vector<JudgedClaim>& judged) {
  Json json = to_json(report), list = Json::array();
  for (const auto& [claim, finding] : judged)
    list.push_back({{"name", claim->name},
                    {"section", claim->section},
                    {"claim", claim->claim},
                    {"test", claim->test},
                    {"verdict", name(finding.standing)},
                    {"figures", finding.figures}});
  json["claims"] = std::move(list);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace flashbench
