#include "device/peaks.hpp"

#include <fmt/format.h>

#include <array>

#include "device/uuid.hpp"

namespace flashbench {

namespace {

struct Entry {
  std::string_view name;
  Peak peak;
};

constexpr std::string_view a100 = "NVIDIA A100 datasheet";
constexpr std::string_view h100 = "NVIDIA H100 datasheet, half of the figure with sparsity";
constexpr std::string_view h200 = "NVIDIA H200 datasheet, half of the figure with sparsity";
constexpr std::string_view ada = "NVIDIA Ada GPU architecture whitepaper, fp32 accumulation";
constexpr std::string_view ampere = "NVIDIA GA102 GPU architecture whitepaper, fp32 accumulation";

constexpr std::array entries{
    Entry{"NVIDIA A100-SXM4-40GB", {312, 1555, a100}},
    Entry{"NVIDIA A100-SXM4-80GB", {312, 2039, a100}},
    Entry{"NVIDIA A100-PCIE-40GB", {312, 1555, a100}},
    Entry{"NVIDIA A100 80GB PCIe", {312, 1935, a100}},
    Entry{"NVIDIA H100 80GB HBM3", {989.4, 3350, h100}},
    Entry{"NVIDIA H100 PCIe", {756, 2039, h100}},
    Entry{"NVIDIA H100 NVL", {835.5, 3938, h100}},
    Entry{"NVIDIA H200", {989.4, 4800, h200}},
    Entry{"NVIDIA H200 NVL", {835.5, 4800, h200}},
    Entry{"NVIDIA H20", {148, 4000, "NVIDIA H20 datasheet"}},
    Entry{"NVIDIA A30", {165, 933, "NVIDIA A30 datasheet"}},
    Entry{"NVIDIA A40", {149.7, 696, "NVIDIA A40 datasheet"}},
    Entry{"NVIDIA A10", {125, 600, "NVIDIA A10 datasheet"}},
    Entry{"NVIDIA L40S", {362.05, 864, "NVIDIA L40S datasheet"}},
    Entry{"NVIDIA L4", {121, 300, "NVIDIA L4 datasheet, half of the figure with sparsity"}},
    Entry{"NVIDIA GeForce RTX 4090", {165.2, 1008, ada}},
    Entry{"NVIDIA GeForce RTX 3090", {71, 936, ampere}},
    Entry{"NVIDIA RTX A6000",
          {154.8, 768,
           "NVIDIA RTX A6000 datasheet, half of the figure with "
           "sparsity"}},
};

}  // namespace

std::optional<Peak> datasheet_peak(std::string_view device_name) {
  for (const Entry& entry : entries)
    if (entry.name == device_name) return entry.peak;
  return std::nullopt;
}

void apply_peak(DeviceFacts& device, const std::optional<double>& given_tflops) {
  const std::optional<Peak> peak = is_mig(device.uuid) ? std::nullopt : datasheet_peak(device.name);
  if (peak && !device.peak_gbps) device.peak_gbps = peak->gbps;
  if (given_tflops) {
    device.peak_tflops = given_tflops;
    device.peak_source = "--peak-tflops";
  } else if (peak) {
    device.peak_tflops = peak->tflops;
    device.peak_source = fmt::format("{} (dense 16-bit, {})", peak->source, device.name);
  }
}

}  // namespace flashbench
