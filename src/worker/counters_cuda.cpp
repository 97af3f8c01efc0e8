// By CUPTI's range profiler. One range a pass, from the first kernel of a run to the end of its
// last, and the whole run is repeated for each pass. So what lies in L2 between the kernels of a
// run lies there as it does when they are timed: a replay of each kernel by itself would save and
// restore memory in between. A run leaves nothing that the next depends on, so none is undone.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <utility>

#include "worker/answer.hpp"
#include "worker/counters.hpp"
#include "worker/cupti_host_cuda.hpp"

namespace flashbench {

namespace {

// Null where no driver is loaded.
CUcontext current_context() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  const auto get =
      driver ? reinterpret_cast<CUresult (*)(CUcontext*)>(dlsym(driver, "cuCtxGetCurrent"))
             : nullptr;
  CUcontext context = nullptr;
  return get && get(&context) == CUDA_SUCCESS ? context : nullptr;
}

// Which counters of a chip a machine really has; empty where the driver does not say.
CuptiImage availability_of(CUcontext context) {
  auto asked = of_size<CUpti_Profiler_GetCounterAvailability_Params>(
      CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE);
  asked.ctx = context;
  const CUptiResult result = cupti().counter_availability(&asked);
  if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
    check_cupti(result, "cuptiProfilerGetCounterAvailability");
  if (result != CUPTI_SUCCESS) return {};
  CuptiImage image(asked.counterAvailabilityImageSize);
  asked.pCounterAvailabilityImage = image.data();
  return cupti().counter_availability(&asked) == CUPTI_SUCCESS ? image : CuptiImage{};
}

// The context as it is profiled; as it was before when this is gone.
class RangeProfiler {
 public:
  explicit RangeProfiler(CUcontext context) {
    auto enabled =
        of_size<CUpti_RangeProfiler_Enable_Params>(CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE);
    enabled.ctx = context;
    check_cupti(cupti().enable(&enabled), "cuptiRangeProfilerEnable");
    profiler_ = enabled.pRangeProfilerObject;
  }
  ~RangeProfiler() {
    if (counting_) {
      auto stopped =
          asked<CUpti_RangeProfiler_Stop_Params>(CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE);
      cupti().stop(&stopped);
    }
    auto disabled =
        asked<CUpti_RangeProfiler_Disable_Params>(CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE);
    cupti().disable(&disabled);
  }
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  // Both images have to live as long as it counts.
  void configure(const CuptiImage& configuration, CuptiImage& counted,
                 std::vector<const char*>& metrics) {
    auto size = asked<CUpti_RangeProfiler_GetCounterDataSize_Params>(
        CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE);
    size.pMetricNames = metrics.data();
    size.numMetrics = metrics.size();
    size.maxNumOfRanges = size.maxNumRangeTreeNodes = 1;
    check_cupti(cupti().counter_data_size(&size), "cuptiRangeProfilerGetCounterDataSize");
    counted.assign(size.counterDataSize, 0);
    auto cleared = asked<CUpti_RangeProfiler_CounterDataImage_Initialize_Params>(
        CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE);
    cleared.counterDataSize = counted.size();
    cleared.pCounterData = counted.data();
    check_cupti(cupti().counter_data_initialize(&cleared),
                "cuptiRangeProfilerCounterDataImageInitialize");
    auto set = asked<CUpti_RangeProfiler_SetConfig_Params>(
        CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE);
    set.configSize = configuration.size();
    set.pConfig = configuration.data();
    set.counterDataImageSize = counted.size();
    set.pCounterDataImage = counted.data();
    set.range = CUPTI_UserRange;
    set.replayMode = CUPTI_UserReplay;
    set.maxRangesPerPass = 1;
    set.numNestingLevels = set.minNestingLevel = set.targetNestingLevel = 1;
    check_cupti(cupti().set_config(&set), "cuptiRangeProfilerSetConfig");
  }
  // Whether that was the last pass.
  bool pass(const std::function<void()>& before, const std::function<void()>& run) {
    auto started =
        asked<CUpti_RangeProfiler_Start_Params>(CUpti_RangeProfiler_Start_Params_STRUCT_SIZE);
    check_cupti(cupti().start(&started), "cuptiRangeProfilerStart");
    counting_ = true;
    before();
    auto pushed = asked<CUpti_RangeProfiler_PushRange_Params>(
        CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE);
    pushed.pRangeName = "run";
    check_cupti(cupti().push_range(&pushed), "cuptiRangeProfilerPushRange");
    run();
    auto popped =
        asked<CUpti_RangeProfiler_PopRange_Params>(CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE);
    check_cupti(cupti().pop_range(&popped), "cuptiRangeProfilerPopRange");
    auto stopped =
        asked<CUpti_RangeProfiler_Stop_Params>(CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE);
    counting_ = false;
    check_cupti(cupti().stop(&stopped), "cuptiRangeProfilerStop");
    return stopped.isAllPassSubmitted != 0;
  }
  void decode(const CuptiImage& counted) {
    auto decoded = asked<CUpti_RangeProfiler_DecodeData_Params>(
        CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE);
    check_cupti(cupti().decode(&decoded), "cuptiRangeProfilerDecodeData");
    auto held = of_size<CUpti_RangeProfiler_GetCounterDataInfo_Params>(
        CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE);
    held.pCounterDataImage = counted.data();
    held.counterDataImageSize = counted.size();
    check_cupti(cupti().counter_data_info(&held), "cuptiRangeProfilerGetCounterDataInfo");
    if (decoded.numOfRangeDropped > 0 || held.numTotalRanges != 1)
      throw Refusal(Status::failed, fmt::format("CUPTI failed: of one range it kept {} and lost {}",
                                                held.numTotalRanges, decoded.numOfRangeDropped));
  }

 private:
  template <class Parameters>
  Parameters asked(std::size_t size) const {
    auto parameters = of_size<Parameters>(size);
    parameters.pRangeProfilerObject = profiler_;
    return parameters;
  }

  CUpti_RangeProfiler_Object* profiler_ = nullptr;
  bool counting_ = false;
};

class CuptiCounters : public HardwareCounters {
 public:
  CuptiCounters(std::string chip, CUcontext context)
      : chip_(std::move(chip)), context_(context), availability_(availability_of(context)) {
    CuptiHost(chip_, availability_);  // throws where the chip is not known
    RangeProfiler{context_};          // and here where the driver forbids it
  }

  Values count(const std::vector<std::string>& metrics, const std::function<void()>& before,
               const std::function<void()>& run) override {
    Values values;
    std::vector<const char*> known;
    for (const std::string& metric : metrics) {
      values[metric] = std::nullopt;
      if (counts(metric)) known.push_back(metric.c_str());
    }
    if (known.empty()) return values;
    const CuptiHost host(chip_, availability_);
    CuptiImage configuration = host.configuration(known);
    const CuptiImage counted = passes(configuration, known, before, run);
    const std::vector<double> read = host.values(counted, known);
    for (std::size_t i = 0; i < known.size(); ++i)
      if (std::isfinite(read[i])) values[known[i]] = read[i];
    return values;
  }

 private:
  // Whether chip and machine have it: one that they lack would take the others with it.
  bool counts(const std::string& metric) const {
    const CuptiHost host(chip_, availability_);
    if (!host.knows(metric)) return false;
    std::vector<const char*> alone{metric.c_str()};
    try {
      host.configuration(alone);
      return true;
    } catch (const Refusal&) {
      return false;
    }
  }
  CuptiImage passes(CuptiImage& configuration, std::vector<const char*>& metrics,
                    const std::function<void()>& before, const std::function<void()>& run) const {
    CuptiImage counted;
    RangeProfiler profiler(context_);
    profiler.configure(configuration, counted, metrics);
    const std::size_t most = CuptiHost::passes(configuration);
    std::size_t done = 1;
    while (!profiler.pass(before, run))
      if (++done > most)
        throw Refusal(Status::failed,
                      fmt::format("CUPTI failed: it is not done after its {} passes", most));
    profiler.decode(counted);
    return counted;
  }

  std::string chip_;
  CUcontext context_;
  CuptiImage availability_;
};

// Throws where CUPTI says by itself that it does not count on this device.
void require_support(CUdevice device) {
  auto asked = of_size<CUpti_Profiler_DeviceSupported_Params>(
      CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE);
  asked.cuDevice = device;
  asked.api = CUPTI_PROFILER_RANGE_PROFILING;
  check_cupti(cupti().device_supported(&asked), "cuptiProfilerDeviceSupported");
  if (asked.isSupported != CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED &&
      asked.isSupported != CUPTI_PROFILER_CONFIGURATION_DISABLED)
    return;
  check_cupti(asked.architecture == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED
                  ? CUPTI_ERROR_NOT_SUPPORTED
              : asked.vGpu == CUPTI_PROFILER_CONFIGURATION_DISABLED
                  ? CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES
                  : CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED,
              "cuptiProfilerDeviceSupported");
}

}  // namespace

std::unique_ptr<HardwareCounters> open_counters(int ordinal) {
  auto initialized =
      of_size<CUpti_Profiler_Initialize_Params>(CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
  check_cupti(cupti().initialize(&initialized), "cuptiProfilerInitialize");
  require_support(ordinal);
  auto named =
      of_size<CUpti_Device_GetChipName_Params>(CUpti_Device_GetChipName_Params_STRUCT_SIZE);
  named.deviceIndex = static_cast<std::size_t>(ordinal);
  check_cupti(cupti().chip_name(&named), "cuptiDeviceGetChipName");
  return std::make_unique<CuptiCounters>(named.pChipName, current_context());
}

}  // namespace flashbench
