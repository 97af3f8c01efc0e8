#include "worker/cupti_cuda.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <iterator>
#include <type_traits>

#include "worker/answer.hpp"

namespace flashbench {

namespace {

// A later major version first: the driver of a machine is at least as new as its toolkits.
constexpr const char* file_names[] = {"libcupti.so.13", "libcupti.so.12"};
constexpr const char* library_folders[] = {"lib64", "lib", "extras/CUPTI/lib64",
                                           "targets/x86_64-linux/lib"};

std::string from_environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

// The first function that the library lacks; empty: it has all.
std::string fill_in(void* library, Cupti& functions) {
  std::string lacking;
  const auto find = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (!function && lacking.empty()) lacking = name;
  };
  find("cuptiGetResultString", functions.result_string);
  find("cuptiProfilerInitialize", functions.initialize);
  find("cuptiProfilerDeviceSupported", functions.device_supported);
  find("cuptiDeviceGetChipName", functions.chip_name);
  find("cuptiProfilerGetCounterAvailability", functions.counter_availability);
  find("cuptiProfilerHostInitialize", functions.host_initialize);
  find("cuptiProfilerHostDeinitialize", functions.host_deinitialize);
  find("cuptiProfilerHostGetMetricProperties", functions.metric_properties);
  find("cuptiProfilerHostConfigAddMetrics", functions.add_metrics);
  find("cuptiProfilerHostGetConfigImageSize", functions.config_image_size);
  find("cuptiProfilerHostGetConfigImage", functions.config_image);
  find("cuptiProfilerHostGetNumOfPasses", functions.number_of_passes);
  find("cuptiProfilerHostEvaluateToGpuValues", functions.evaluate);
  find("cuptiRangeProfilerEnable", functions.enable);
  find("cuptiRangeProfilerDisable", functions.disable);
  find("cuptiRangeProfilerGetCounterDataSize", functions.counter_data_size);
  find("cuptiRangeProfilerCounterDataImageInitialize", functions.counter_data_initialize);
  find("cuptiRangeProfilerSetConfig", functions.set_config);
  find("cuptiRangeProfilerStart", functions.start);
  find("cuptiRangeProfilerStop", functions.stop);
  find("cuptiRangeProfilerPushRange", functions.push_range);
  find("cuptiRangeProfilerPopRange", functions.pop_range);
  find("cuptiRangeProfilerDecodeData", functions.decode);
  find("cuptiRangeProfilerGetCounterDataInfo", functions.counter_data_info);
  return lacking;
}

// What stands in the way where it is not this program; empty: nothing that is known.
std::string obstacle(CUptiResult result) {
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      return "the driver forbids them: it lets administrators alone read hardware counters; an "
             "administrator allows them to all by the option "
             "NVreg_RestrictProfilingToAdminUsers=0 of the kernel module nvidia (a line \"options "
             "nvidia NVreg_RestrictProfilingToAdminUsers=0\" in /etc/modprobe.d, then a restart), "
             "or to a container by the capability SYS_ADMIN";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return "the hypervisor forbids them: profiling is not switched on for this virtual GPU";
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return "they are in use: another profiler, or a monitor such as DCGM (dcgmi profiling "
             "--pause), has them";
    case CUPTI_ERROR_NOT_SUPPORTED:
    case CUPTI_ERROR_INVALID_CHIP_NAME:
    case CUPTI_ERROR_INVALID_DEVICE:
    case CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED:
      return "not of this GPU: this CUPTI does not know its counters";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
    case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
      return "not as this GPU is set up: CUPTI reads none of a virtual GPU, a MIG slice, SLI, WSL, "
             "confidential computing or a mining card";
    default:
      return {};
  }
}

}  // namespace

std::vector<std::string> cupti_places() {
  if (const std::string chosen = from_environment("FLASHBENCH_CUPTI"); !chosen.empty())
    return {chosen};
  std::vector<std::string> places(std::begin(file_names), std::end(file_names));
  for (const std::string& toolkit :
       {from_environment("CUDA_HOME"), from_environment("CUDA_PATH"),
        std::string(FLASHBENCH_CUDA_TOOLKIT), std::string("/usr/local/cuda")})
    if (!toolkit.empty())
      for (const char* name : file_names)
        for (const char* folder : library_folders)
          places.push_back(fmt::format("{}/{}/{}", toolkit, folder, name));
  return places;
}

Cupti open_cupti() {
  Cupti functions{};
  std::string lacking;
  for (const std::string& place : cupti_places()) {
    void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) continue;
    const std::string lacks = fill_in(library, functions);
    if (lacks.empty()) return functions;
    if (lacking.empty()) lacking = fmt::format("{} has no {}", place, lacks);
    dlclose(library);
  }
  if (!lacking.empty())
    throw Refusal(Status::unsupported,
                  fmt::format("CUPTI is too old: {}; that of CUDA 12.6 or newer has", lacking));
  throw Refusal(
      Status::unsupported,
      "CUPTI is not here: neither libcupti.so.13 nor libcupti.so.12 can be opened; it "
      "comes with the CUDA toolkit, and CUDA_HOME or LD_LIBRARY_PATH can say where it is");
}

const Cupti& cupti() {
  static const Cupti instance = open_cupti();
  return instance;
}

void check_cupti(CUptiResult result, const char* call) {
  if (result == CUPTI_SUCCESS) return;
  const char* text = nullptr;
  if (cupti().result_string(result, &text) != CUPTI_SUCCESS || !text) text = "an unknown error";
  const std::string known = obstacle(result);
  if (known.empty()) throw Refusal(Status::failed, fmt::format("CUPTI failed: {}: {}", call, text));
  throw Refusal(Status::unsupported, fmt::format("{} ({}: {})", known, call, text));
}

}  // namespace flashbench
