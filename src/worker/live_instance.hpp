// An implementation created for the prepared problem.
#pragma once

#include "record/row.hpp"
#include "worker/guarded.hpp"
#include "worker/tensor_set.hpp"

namespace flashbench {

// Throws Refusal where the status says so; `what` opens the sentence of a failure without a
// message.
void require_ok(FlashbenchStatus, const FlashbenchMessage&, const std::string& what);

// What the implementation says that these passes of a problem would cost. Throws Refusal: what it
// does not support, and (failed) figures that cannot be.
FlashbenchCost cost_of(const FlashbenchImplementation&, const FlashbenchDevice&,
                       const FlashbenchProblem&, std::uint32_t passes);

class LiveInstance {
 public:
  LiveInstance(const FlashbenchImplementation&, DeviceBackend&, const Problem&, Pass);
  ~LiveInstance();
  LiveInstance(const LiveInstance&) = delete;
  LiveInstance& operator=(const LiveInstance&) = delete;

  // Device bytes that creating it takes. Refuses what the implementation does not support.
  static std::int64_t footprint(const FlashbenchImplementation&, DeviceBackend&, const Problem&,
                                Pass);
  std::uint32_t saves() const { return saves_; }
  // Only enqueue.
  void forward(TensorSet&);
  void backward(TensorSet&, std::uint32_t saves);  // with the statistics of which forward
  void run(Pass, TensorSet&);                      // what a timed sample holds
  // Whether results lie in the library's memory until collect() is called after each run.
  bool collects() const { return implementation_.collect != nullptr; }
  void collect(Pass, TensorSet&);
  std::vector<Launch> launches() const;
  std::optional<Counts> counts();
  std::string broken() const { return workspace_.broken(); }

 private:
  const FlashbenchImplementation& implementation_;
  DeviceBackend& backend_;
  std::uint32_t saves_ = 0;
  Guarded workspace_;
  FlashbenchInstance instance_{};
};

}  // namespace flashbench
