// What a worker holds between prepare and drop, and the operations on it.
#pragma once

#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "record/messages.hpp"
#include "worker/live_instance.hpp"
#include "worker/tensor_set.hpp"

namespace flashbench {

class Session {
 public:
  Session(const FlashbenchPlugin& plugin, DeviceBackend& backend)
      : plugin_(plugin), backend_(backend) {}

  reply::Describe describe(const request::Describe&);
  reply::Prepare prepare(const request::Prepare&, const Tell&);
  reply::Output output(const request::Output&, const Tell&);
  reply::Run run(const request::Run&, const Tell&);
  reply::Profile profile(const request::Profile&);
  reply::Count count(const request::Count&);
  reply::Drop drop();

 private:
  const FlashbenchImplementation& find(const std::string& name) const;
  // Refuses what was not prepared.
  TensorSet& set(int index);
  // Created at its first use; others go if memory does not suffice for all.
  LiveInstance& instance(const std::string& name, Pass);
  void require_memory(std::int64_t bytes, const std::string& what);
  // Leaves O and statistics of a forward in the set; returns which statistics.
  std::uint32_t run_forward(const std::string& impl, Pass, TensorSet&);
  // After a write outside the tensors: instances with a workspace and all sets are made good.
  void undo_damage(const Tell&);
  void write_outputs(const request::Output&, const TensorSet&, std::uint32_t saves);
  // The same; a WriteError says what all of it would have taken.
  void save(const request::Output&, const TensorSet&, std::uint32_t saves);

  const FlashbenchPlugin& plugin_;
  DeviceBackend& backend_;
  Problem problem_;
  std::int64_t sets_bytes_ = 0;
  std::vector<std::unique_ptr<TensorSet>> sets_;
  std::map<std::pair<std::string, Pass>, std::unique_ptr<LiveInstance>> instances_;
  std::mt19937_64 random_{std::random_device{}()};  // which samples of a turn are checked
};

}  // namespace flashbench
