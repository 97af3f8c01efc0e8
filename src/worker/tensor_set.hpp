// One input set of the prepared problem on the device, with outputs of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "worker/answer.hpp"
#include "worker/bytes.hpp"
#include "worker/guarded.hpp"
#include "worker/inputs.hpp"

namespace flashbench {

class TensorSet {
 public:
  // Allocates what the pass reads and writes, and fills the inputs.
  TensorSet(DeviceBackend&, const Problem&, const InputSet&, Pass, const Tell&);

  // Device bytes of a set, guard bands included.
  static std::int64_t footprint(const Problem&, Pass);
  const std::string& checksum() const { return checksum_; }
  // saves: FLASHBENCH_SAVES_... of the implementation that runs.
  FlashbenchForward forward_arguments(std::uint32_t saves);
  FlashbenchBackward backward_arguments(std::uint32_t saves);
  // Fills what a pass writes with NaN, so that nothing old can be taken for a result.
  void poison(Pass);
  // Of what a pass wrote, statistics included.
  std::string hash(Pass, std::uint32_t saves) const;
  std::int64_t bytes_written(Pass, std::uint32_t saves) const;
  // The first broken guard band or changed input (the latter only if `inputs`); empty when intact.
  std::string broken(bool inputs) const;
  // Undoes what broken() finds, so that the next implementation is not blamed for it.
  void mend(const Tell&);
  // Rows of a tensor in logical order, in the problem's dtype.
  Bytes logical(Tensor) const;
  // (b, h, s); derived on the host where the implementation saved m and l; empty where it saved
  // nothing.
  std::vector<float> lse(std::uint32_t saves) const;

 private:
  struct Named {
    Tensor tensor;
    Guarded buffer;
    std::uint64_t device_hash = 0;  // of an input as it was uploaded
  };
  // Uploads the values of an input; returns their fingerprint.
  std::uint64_t fill(Named&, const Tell&);
  const Guarded& at(Tensor) const;
  FlashbenchTensor view(Tensor) const;
  std::vector<const Guarded*> written(Pass, std::uint32_t saves) const;
  std::vector<float> statistic(const Guarded&) const;

  DeviceBackend* backend_;
  Problem problem_;
  InputSet source_;
  std::vector<Named> inputs_, outputs_;
  Guarded lse_, m_, l_;
  std::string checksum_;
};

}  // namespace flashbench
