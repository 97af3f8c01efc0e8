// The folder where workers leave outputs for the judge.
#pragma once

#include <cstdint>
#include <filesystem>

namespace flashbench {

// Made under $TMPDIR, /dev/shm or /tmp, the first of them with `needed_bytes` to spare; removed by
// the destructor and by a second interrupt. What a killed run left there earlier is removed when
// the next one starts: a folder whose lock is free has no owner.
class Scratch {
 public:
  // Throws WriteError when no folder can be made.
  explicit Scratch(std::int64_t needed_bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace flashbench
