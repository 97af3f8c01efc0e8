#include "compare/exit_code.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace flashbench {
namespace {

TEST(ExitCode, takes_the_worst_by_precedence) {
  const std::vector<int> order{130, 2, 3, 1, 6, 5, 4, 0};
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = i; j < order.size(); ++j) {
      EXPECT_EQ(worst_exit_code(std::vector{order[i], order[j]}), order[i]);
      EXPECT_EQ(worst_exit_code(std::vector{order[j], order[i]}), order[i]);
    }
  EXPECT_EQ(worst_exit_code({}), 0);
  EXPECT_EQ(worst_exit_code(std::vector{4, 77}), 1);  // never a count
}

std::vector<Row> rows(std::initializer_list<Status> statuses) {
  std::vector<Row> result;
  for (const Status status : statuses) {
    result.emplace_back();
    result.back().status = status;
  }
  return result;
}

TEST(ExitCode, of_rows_is_0_only_when_something_was_ok) {
  EXPECT_EQ(exit_code_of_rows(rows({Status::ok, Status::oom, Status::unsupported}), false), 0);
  EXPECT_EQ(exit_code_of_rows(rows({Status::oom, Status::unsupported}), false), 4);
  EXPECT_EQ(exit_code_of_rows(rows({}), false), 4);
  for (const Status bad : {Status::failed, Status::crashed, Status::timeout, Status::not_run})
    EXPECT_EQ(exit_code_of_rows(rows({Status::ok, bad}), false), 1);
}

TEST(ExitCode, of_rows_is_strict_when_asked) {
  EXPECT_EQ(exit_code_of_rows(rows({Status::ok, Status::oom}), true), 1);
  EXPECT_EQ(exit_code_of_rows(rows({Status::ok, Status::unsupported}), true), 1);
  EXPECT_EQ(exit_code_of_rows(rows({Status::ok}), true), 0);
}

}  // namespace
}  // namespace flashbench
