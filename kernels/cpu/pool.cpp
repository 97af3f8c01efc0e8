#include "kernels/cpu/pool.hpp"

namespace flashbench::kernels::cpu {

Pool::Pool(int threads) {
  for (int worker = 1; worker < threads; ++worker)
    workers_.emplace_back([this, worker](std::stop_token stop) { serve(stop, worker); });
}

void Pool::run(int64_t tasks, Call call, const void* context) {
  std::unique_lock lock(mutex_);
  call_ = call;
  context_ = context;
  tasks_ = tasks;
  next_ = 0;
  busy_ = tasks > 1 ? static_cast<int>(workers_.size()) : 0;
  if (busy_ > 0) {
    ++generation_;
    wake_.notify_all();
  }
  lock.unlock();
  drain(0);
  lock.lock();
  done_.wait(lock, [this] { return busy_ == 0; });
}

// Tasks are tiles, microseconds at the least: a lock for each costs nothing that could be measured.
void Pool::drain(int worker) {
  for (;;) {
    int64_t task;
    {
      const std::lock_guard lock(mutex_);
      if (next_ >= tasks_) return;
      task = next_++;
    }
    call_(context_, task, worker);
  }
}

void Pool::serve(std::stop_token stop, int worker) {
  uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (wake_.wait(lock, stop, [&] { return generation_ != seen; })) {
    seen = generation_;
    lock.unlock();
    drain(worker);
    lock.lock();
    if (--busy_ == 0) done_.notify_one();
  }
}

}  // namespace flashbench::kernels::cpu
