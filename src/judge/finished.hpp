// Finished work as a sign of life, on whichever thread it was done.
#pragma once

#include <mutex>
#include <string>
#include <utility>

#include "worker/answer.hpp"

namespace flashbench::judge {

class Finished {
 public:
  // of: how many there will be; 0: unknown.
  Finished(const Tell& tell, double of, std::string what)
      : tell_(tell), of_(of), what_(std::move(what)) {}
  void operator()() {
    const std::lock_guard lock(mutex_);
    tell_(++done_, of_, what_);
  }

 private:
  const Tell& tell_;
  double done_ = 0, of_;
  std::string what_;
  std::mutex mutex_;
};

}  // namespace flashbench::judge
