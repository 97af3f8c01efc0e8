#include "protocol/channel.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <thread>

#include "record/messages.hpp"

namespace flashbench {
namespace {

using namespace std::chrono_literals;

struct Ends {
  Channel front, worker;
};

Ends make_ends() {
  std::array<int, 2> pair{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
  return {Channel(pair[0]), Channel(pair[1])};
}

TEST(Channel, gives_lines_in_order) {
  Ends ends = make_ends();
  ASSERT_TRUE(ends.front.write_line("one"));
  ASSERT_TRUE(ends.front.write_line(""));
  ASSERT_TRUE(ends.front.write_line("three"));
  std::string line;
  EXPECT_EQ(ends.worker.read_line(line), Channel::Read::line);
  EXPECT_EQ(line, "one");
  EXPECT_EQ(ends.worker.read_line(line, 0ms), Channel::Read::line);
  EXPECT_EQ(line, "");
  EXPECT_EQ(ends.worker.read_line(line, 0ms), Channel::Read::line);
  EXPECT_EQ(line, "three");
}

TEST(Channel, times_out_and_keeps_half_a_line) {
  Ends ends = make_ends();
  ASSERT_EQ(::send(ends.front.descriptor(), "ha", 2, 0), 2);
  std::string line;
  EXPECT_EQ(ends.worker.read_line(line, 20ms), Channel::Read::timed_out);
  ASSERT_TRUE(ends.front.write_line("lf"));
  EXPECT_EQ(ends.worker.read_line(line, 1s), Channel::Read::line);
  EXPECT_EQ(line, "half");
}

TEST(Channel, tells_that_the_other_end_is_gone) {
  Ends ends = make_ends();
  ASSERT_TRUE(ends.front.write_line("last words"));
  { const Channel gone = std::move(ends.front); }
  std::string line;
  EXPECT_EQ(ends.worker.read_line(line), Channel::Read::line);
  EXPECT_EQ(line, "last words");
  EXPECT_EQ(ends.worker.read_line(line), Channel::Read::closed);
  EXPECT_FALSE(ends.worker.write_line("anyone?"));  // and no SIGPIPE
}

TEST(Channel, carries_the_longest_line_and_no_longer_one) {
  Ends ends = make_ends();
  std::thread writer([&] {
    ends.front.write_line(std::string(longest_line, 'x'));
    ends.front.write_line(std::string(longest_line + 1, 'y'));
  });
  std::string line;
  EXPECT_EQ(ends.worker.read_line(line), Channel::Read::line);
  EXPECT_EQ(line.size(), longest_line);
  EXPECT_EQ(ends.worker.read_line(line), Channel::Read::too_long);
  { const Channel gone = std::move(ends.worker); }
  writer.join();
}

TEST(Channel, returns_when_a_signal_arrives) {
  Ends ends = make_ends();
  struct sigaction action {};
  action.sa_handler = [](int) {};
  ::sigaction(SIGALRM, &action, nullptr);
  const itimerval soon{{0, 20000}, {0, 20000}};
  ::setitimer(ITIMER_REAL, &soon, nullptr);
  std::string line;
  EXPECT_EQ(ends.worker.read_line(line, 10s), Channel::Read::interrupted);
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
}

}  // namespace
}  // namespace flashbench
