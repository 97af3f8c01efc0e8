// A small persistent pool: the cores an instance may use, the caller being one of them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace flashbench::kernels::cpu {

class Pool {
 public:
  explicit Pool(int threads);  // threads >= 1; starts threads - 1, all asleep until run
  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls body(task, worker) for every task in [0, tasks), worker in [0, threads()), tasks handed
  // out in ascending order; returns when all are done. Neither allocates nor throws; body must not.
  template <class Body>
  void run(int64_t tasks, const Body& body) {
    run(
        tasks,
        [](const void* context, int64_t task, int worker) {
          (*static_cast<const Body*>(context))(task, worker);
        },
        &body);
  }

 private:
  using Call = void (*)(const void* context, int64_t task, int worker);
  void run(int64_t tasks, Call call, const void* context);
  void serve(std::stop_token stop, int worker);
  void drain(int worker);

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::condition_variable done_;
  Call call_ = nullptr;
  const void* context_ = nullptr;
  int64_t tasks_ = 0;
  int64_t next_ = 0;
  uint64_t generation_ = 0;
  int busy_ = 0;
  std::vector<std::jthread> workers_;  // last: stopped and joined before what they use goes
};

}  // namespace flashbench::kernels::cpu
