#include "worker/guarded.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "worker/backend_cpu.hpp"

namespace flashbench {
namespace {

using ::testing::HasSubstr;

TEST(Guarded, CatchesWritesOnEitherSide) {
  CpuBackend backend;
  Guarded buffer(backend, "o", 1000);
  auto* bytes = static_cast<unsigned char*>(buffer.data());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes) % 256, 0u);
  bytes[0] = bytes[999] = 1;
  EXPECT_EQ(buffer.broken(), "");
  bytes[1000] = 1;
  EXPECT_THAT(buffer.broken(), HasSubstr("past the end of o"));
  bytes[1000] = 0xa5;
  bytes[-1] = 1;
  EXPECT_THAT(buffer.broken(), HasSubstr("before o"));
}

TEST(Guarded, HoldsNaNBehindKeysInEveryDtype) {
  CpuBackend backend;
  Guarded keys(backend, "k", 6, 20000);
  const auto* bytes = static_cast<const unsigned char*>(keys.data());
  for (int i = 6; i < 20006; ++i) ASSERT_EQ(bytes[i], 0xff);
  EXPECT_EQ(keys.broken(), "");
}

TEST(Guarded, PoisonIsNaN) {
  CpuBackend backend;
  Guarded buffer(backend, "o", 8);
  buffer.poison();
  const auto* values = static_cast<const float*>(buffer.data());
  EXPECT_TRUE(std::isnan(values[0]) && std::isnan(values[1]));
  Guarded empty(backend, "nothing", 0);
  empty.poison();
  EXPECT_EQ(empty.broken(), "");
}

}  // namespace
}  // namespace flashbench
