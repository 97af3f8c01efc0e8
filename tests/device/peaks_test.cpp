#include "device/peaks.hpp"

#include <gtest/gtest.h>

namespace flashbench {
namespace {

TEST(Peaks, AreDenseSixteenBitWithFp32Accumulation) {  // B05
  const std::pair<const char*, double> expected[] = {{"NVIDIA A100-SXM4-80GB", 312},
                                                     {"NVIDIA A100 80GB PCIe", 312},
                                                     {"NVIDIA H100 80GB HBM3", 989},
                                                     {"NVIDIA H100 PCIe", 756},
                                                     {"NVIDIA H100 NVL", 835},
                                                     {"NVIDIA H200", 989},
                                                     {"NVIDIA H20", 148},
                                                     {"NVIDIA GeForce RTX 4090", 165},
                                                     {"NVIDIA GeForce RTX 3090", 71},
                                                     {"NVIDIA RTX A6000", 155},
                                                     {"NVIDIA A10", 125},
                                                     {"NVIDIA A30", 165},
                                                     {"NVIDIA A40", 149.7},
                                                     {"NVIDIA L4", 121},
                                                     {"NVIDIA L40S", 362}};
  for (const auto& [device, tflops] : expected) {
    const auto peak = datasheet_peak(device);
    ASSERT_TRUE(peak) << device;
    EXPECT_NEAR(peak->tflops, tflops, 0.01 * tflops) << device;
    EXPECT_FALSE(peak->source.empty());
  }
}

TEST(Peaks, OfAnUnknownNameOrASliceAreNone) {
  EXPECT_FALSE(datasheet_peak("NVIDIA H100"));
  EXPECT_FALSE(datasheet_peak("NVIDIA A100-SXM4-80GB MIG 1g.10gb"));
  EXPECT_FALSE(datasheet_peak(""));
}

TEST(Peaks, GivenByTheUserWinAndSaySo) {
  DeviceFacts device;
  device.name = "NVIDIA H200";
  apply_peak(device);
  EXPECT_EQ(device.peak_gbps, 4800);
  EXPECT_NEAR(*device.peak_tflops, 989, 1);
  apply_peak(device, 500);
  EXPECT_EQ(device.peak_tflops, 500);
  EXPECT_EQ(device.peak_source, "--peak-tflops");
}

}  // namespace
}  // namespace flashbench
