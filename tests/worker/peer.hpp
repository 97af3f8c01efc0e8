// The other end of a worker's conversation.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/channel.hpp"
#include "record/messages.hpp"

namespace flashbench::testing {

class Peer {
 public:
  // `serve` is given the worker's end and returns main's exit code.
  explicit Peer(const std::function<int(int)>& serve) : channel_(-1) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    channel_ = Channel(ends[0]);
    worker_ = std::thread([this, serve, end = ends[1]] { exit_code_ = serve(end); });
  }
  ~Peer() {
    { const Channel closing = std::move(channel_); }
    worker_.join();
  }
  Reply ask(request::Any body) {
    const std::int64_t id = ++id_;
    EXPECT_TRUE(channel_.write_line(to_line(Request{id, std::move(body)})));
    return answer(id);
  }
  // A line as it is; the reply has id 0 where it cannot be understood.
  Reply ask_line(const std::string& line, std::int64_t id) {
    EXPECT_TRUE(channel_.write_line(line));
    return answer(id);
  }
  template <class Body>
  Body ok(request::Any body) {
    Reply reply = ask(std::move(body));
    EXPECT_EQ(reply.status, Status::ok) << reply.reason;
    if (!reply.body || !std::holds_alternative<Body>(*reply.body)) {
      ADD_FAILURE() << "not the reply that was expected";
      return {};
    }
    return std::get<Body>(*reply.body);
  }
  int wait() {
    worker_.join();
    worker_ = std::thread([] {});
    return exit_code_;
  }
  const std::vector<Progress>& signs() const { return signs_; }

 private:
  Reply answer(std::int64_t id) {
    for (std::string line; channel_.read_line(line) == Channel::Read::line;) {
      auto said = parse_answer(line);
      if (auto* reply = std::get_if<Reply>(&said)) {
        EXPECT_EQ(reply->id, id);
        return std::move(*reply);
      }
      signs_.push_back(std::get<Progress>(said));
    }
    ADD_FAILURE() << "the worker hung up";
    return {};
  }

  Channel channel_;
  std::thread worker_;
  int exit_code_ = -1;
  std::int64_t id_ = 0;
  std::vector<Progress> signs_;
};

// A folder of the test's own, gone with it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "flashbench-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace flashbench::testing
