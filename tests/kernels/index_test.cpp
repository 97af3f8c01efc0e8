// What kernels/README.md says of the implementations is what the index says of them.
#include "kernels/index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace flashbench::test {
namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t at = 1; at < line.size();) {
    const std::size_t end = std::min(line.find('|', at), line.size());
    std::string cell = line.substr(at, end - at);
    cell.erase(0, cell.find_first_not_of(' '));
    cell.erase(cell.find_last_not_of(' ') + 1);
    cells.push_back(cell);
    at = end + 1;
  }
  return cells;
}

// Of each table that ends in a column "section": what that says, by the name in the first column.
std::vector<std::map<std::string, std::string>> sections_in_the_readme() {
  std::ifstream file(FLASHBENCH_SOURCE "/kernels/README.md");
  std::vector<std::map<std::string, std::string>> tables;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    const auto cells = line.starts_with('|') ? cells_of(line) : std::vector<std::string>{};
    if (cells.empty()) {
      inside = false;
    } else if (cells.back() == "section") {
      inside = true;
      tables.emplace_back();
    } else if (inside && cells.front().starts_with('`')) {
      tables.back()[cells.front().substr(1, cells.front().size() - 2)] = cells.back();
    }
  }
  return tables;
}

using Sections = std::map<std::string, std::string>;

Sections sections_of(const auto& steps) {
  Sections sections;
  for (const auto& step : steps) sections[step.facts.name] = step.facts.section;
  return sections;
}

TEST(Index, AndTheReadmeNameTheSameSectionsForTheSameImplementations) {
  Sections implementations;
  kernels::Index::each([&]<class T>() {
    if (std::string(T::facts.name).find('/') == std::string::npos)
      implementations[T::facts.name] = T::facts.section;
  });
  const auto tables = sections_in_the_readme();
  ASSERT_EQ(tables.size(), 3u);
  EXPECT_EQ(tables[0], implementations);
  EXPECT_EQ(tables[1], sections_of(kernels::ladder));
  EXPECT_EQ(tables[2], sections_of(kernels::backward_ladder));
}

TEST(Index, V1HasNoSectionOfAnIdeaThatReplacesIt) {
  const std::string v1 = kernels::FlashAttention1::facts.section;
  for (std::size_t rung = 1; rung < kernels::ladder.size(); ++rung) {
    const kernels::Facts& facts = kernels::ladder[rung].facts;
    EXPECT_EQ(v1.find(facts.section), v1.npos) << facts.name;
  }
}

}  // namespace
}  // namespace flashbench::test
