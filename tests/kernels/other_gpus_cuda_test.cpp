// What the CUDA kernels say of GPUs that need not be here: supports() and cost() ask none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kernels/index.hpp"

namespace flashbench::kernels {
namespace {

using ::testing::HasSubstr;

FlashbenchDevice gpu(std::int32_t compute_capability, std::int64_t shared_bytes) {
  FlashbenchDevice device{};
  device.backend = FLASHBENCH_CUDA;
  device.compute_capability = compute_capability;
  device.multiprocessors = 108;
  device.shared_bytes_per_block = shared_bytes;
  device.shared_bytes_per_multiprocessor = shared_bytes + 1024;
  device.l2_bytes = 40 << 20;
  device.memory_bytes = std::int64_t{80} << 30;
  return device;
}

FlashbenchProblem problem(FlashbenchDtype dtype, std::int64_t head_dim) {
  FlashbenchProblem p{};
  p.batch = 1;
  p.query_heads = p.kv_heads = 2;
  p.seq_q = p.seq_k = 256;
  p.head_dim = head_dim;
  p.dtype = dtype;
  p.passes = FLASHBENCH_FORWARD;
  p.scale = 0.125;
  p.alignment = 256;
  return p;
}

// Empty where it is supported.
std::string refusal(const FlashbenchImplementation& impl, const FlashbenchProblem& p,
                    const FlashbenchDevice& device) {
  FlashbenchMessage message{};
  const FlashbenchStatus status = impl.supports(&p, &device, &message);
  if (status == FLASHBENCH_OK) return {};
  EXPECT_EQ(status, FLASHBENCH_UNSUPPORTED) << impl.name;
  return message.text;
}

class OtherGpus : public ::testing::TestWithParam<const FlashbenchImplementation*> {};

// The ladder is built for one architecture.
bool is_rung(const FlashbenchImplementation& impl) {
  return std::string(impl.name).find('/') != std::string::npos;
}

TEST_P(OtherGpus, AnA100RunsItOrIsToldForWhichGpuItIsBuilt) {
  const FlashbenchDevice a100 = gpu(80, 166912);
  for (const std::int64_t d : {64, 128}) {
    const std::string reason = refusal(*GetParam(), problem(FLASHBENCH_BF16, d), a100);
    if (is_rung(*GetParam()) && !reason.empty()) {
      EXPECT_THAT(reason, HasSubstr("this device is sm_80")) << d;
      EXPECT_THAT(reason, HasSubstr("built for sm_")) << d;
    } else {
      EXPECT_EQ(reason, "") << d;
    }
  }
}

// 101376 bytes a block, where an A100 has 166912: it runs, or the reason names both numbers.
TEST_P(OtherGpus, ASmallerSharedMemorySufficesOrIsNamed) {
  for (const std::int32_t sm : {86, 89, 120})
    for (const std::int64_t d : {64, 128}) {
      const std::string reason = refusal(*GetParam(), problem(FLASHBENCH_BF16, d), gpu(sm, 101376));
      if (!reason.empty() && reason.find("built for") == std::string::npos) {
        EXPECT_THAT(reason, HasSubstr("101376")) << sm << " " << d;
      }
    }
}

std::vector<const FlashbenchImplementation*> all() {
  std::vector<const FlashbenchImplementation*> list;
  for (std::uint32_t i = 0; i < builtin().count; ++i) list.push_back(&builtin().implementations[i]);
  return list;
}

// A cubin of another generation would fail at its first launch.
TEST(Ladder, IsRefusedByAtLeastOneOfTwoGenerations) {
  const FlashbenchProblem p = problem(FLASHBENCH_BF16, 64);
  for (const FlashbenchImplementation* impl : all())
    if (is_rung(*impl)) {
      EXPECT_NE(refusal(*impl, p, gpu(80, 166912)) + refusal(*impl, p, gpu(100, 232448)), "")
          << impl->name;
    }
}

INSTANTIATE_TEST_SUITE_P(Every, OtherGpus, ::testing::ValuesIn(all()), [](const auto& info) {
  std::string name = info.param->name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

}  // namespace
}  // namespace flashbench::kernels
