// CUPTI, NVIDIA's library of hardware counters, opened at run time: a machine without it lacks the
// counters and nothing else. Its functions, and its errors as sentences.
#pragma once

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <cstddef>
#include <string>
#include <vector>

namespace flashbench {

struct Cupti {
  decltype(&cuptiGetResultString) result_string;
  decltype(&cuptiProfilerInitialize) initialize;
  decltype(&cuptiProfilerDeviceSupported) device_supported;
  decltype(&cuptiDeviceGetChipName) chip_name;
  decltype(&cuptiProfilerGetCounterAvailability) counter_availability;
  decltype(&cuptiProfilerHostInitialize) host_initialize;
  decltype(&cuptiProfilerHostDeinitialize) host_deinitialize;
  decltype(&cuptiProfilerHostGetMetricProperties) metric_properties;
  decltype(&cuptiProfilerHostConfigAddMetrics) add_metrics;
  decltype(&cuptiProfilerHostGetConfigImageSize) config_image_size;
  decltype(&cuptiProfilerHostGetConfigImage) config_image;
  decltype(&cuptiProfilerHostGetNumOfPasses) number_of_passes;
  decltype(&cuptiProfilerHostEvaluateToGpuValues) evaluate;
  decltype(&cuptiRangeProfilerEnable) enable;
  decltype(&cuptiRangeProfilerDisable) disable;
  decltype(&cuptiRangeProfilerGetCounterDataSize) counter_data_size;
  decltype(&cuptiRangeProfilerCounterDataImageInitialize) counter_data_initialize;
  decltype(&cuptiRangeProfilerSetConfig) set_config;
  decltype(&cuptiRangeProfilerStart) start;
  decltype(&cuptiRangeProfilerStop) stop;
  decltype(&cuptiRangeProfilerPushRange) push_range;
  decltype(&cuptiRangeProfilerPopRange) pop_range;
  decltype(&cuptiRangeProfilerDecodeData) decode;
  decltype(&cuptiRangeProfilerGetCounterDataInfo) counter_data_info;
};

// Files and names that are tried in turn: of the loader's path, of $CUDA_HOME and $CUDA_PATH, and
// of the toolkits that it was built with and that stands in /usr/local/cuda. The environment
// variable FLASHBENCH_CUPTI names a library instead of all of them.
std::vector<std::string> cupti_places();

// Throws Refusal (unsupported) where there is none, or none new enough.
Cupti open_cupti();
// What that gave at the first call that did not throw.
const Cupti& cupti();

// Throws Refusal unless `result` is success: unsupported where driver, chip or another profiler
// stand in the way, failed else. `call` is the function that returned it.
void check_cupti(CUptiResult result, const char* call);

// The parameters of a call, all zero but for their size: STRUCT_SIZE of their type.
template <class Parameters>
Parameters of_size(std::size_t size) {
  Parameters parameters{};
  parameters.structSize = size;
  return parameters;
}

}  // namespace flashbench
