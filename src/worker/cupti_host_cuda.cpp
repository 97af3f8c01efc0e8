#include "worker/cupti_host_cuda.hpp"

namespace flashbench {

CuptiHost::CuptiHost(const std::string& chip, const CuptiImage& availability) {
  auto made = of_size<CUpti_Profiler_Host_Initialize_Params>(
      CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);
  made.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  made.pChipName = chip.c_str();
  made.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
  check_cupti(cupti().host_initialize(&made), "cuptiProfilerHostInitialize");
  host_ = made.pHostObject;
}

CuptiHost::~CuptiHost() {
  auto ended = of_size<CUpti_Profiler_Host_Deinitialize_Params>(
      CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE);
  ended.pHostObject = host_;
  cupti().host_deinitialize(&ended);
}

bool CuptiHost::knows(const std::string& metric) const {
  auto asked = of_size<CUpti_Profiler_Host_GetMetricProperties_Params>(
      CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE);
  asked.pHostObject = host_;
  asked.pMetricName = metric.c_str();
  return cupti().metric_properties(&asked) == CUPTI_SUCCESS;
}

CuptiImage CuptiHost::configuration(std::vector<const char*>& metrics) const {
  auto added = of_size<CUpti_Profiler_Host_ConfigAddMetrics_Params>(
      CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);
  added.pHostObject = host_;
  added.ppMetricNames = metrics.data();
  added.numMetrics = metrics.size();
  check_cupti(cupti().add_metrics(&added), "cuptiProfilerHostConfigAddMetrics");
  auto size = of_size<CUpti_Profiler_Host_GetConfigImageSize_Params>(
      CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE);
  size.pHostObject = host_;
  check_cupti(cupti().config_image_size(&size), "cuptiProfilerHostGetConfigImageSize");
  CuptiImage image(size.configImageSize);
  auto made = of_size<CUpti_Profiler_Host_GetConfigImage_Params>(
      CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE);
  made.pHostObject = host_;
  made.configImageSize = image.size();
  made.pConfigImage = image.data();
  check_cupti(cupti().config_image(&made), "cuptiProfilerHostGetConfigImage");
  return image;
}

std::vector<double> CuptiHost::values(const CuptiImage& counted,
                                      std::vector<const char*>& metrics) const {
  std::vector<double> values(metrics.size());
  auto read = of_size<CUpti_Profiler_Host_EvaluateToGpuValues_Params>(
      CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE);
  read.pHostObject = host_;
  read.pCounterDataImage = counted.data();
  read.counterDataImageSize = counted.size();
  read.ppMetricNames = metrics.data();
  read.numMetrics = metrics.size();
  read.pMetricValues = values.data();
  check_cupti(cupti().evaluate(&read), "cuptiProfilerHostEvaluateToGpuValues");
  return values;
}

std::size_t CuptiHost::passes(CuptiImage& configuration) {
  auto asked = of_size<CUpti_Profiler_Host_GetNumOfPasses_Params>(
      CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE);
  asked.configImageSize = configuration.size();
  asked.pConfigImage = configuration.data();
  check_cupti(cupti().number_of_passes(&asked), "cuptiProfilerHostGetNumOfPasses");
  return asked.numOfPasses;
}

}  // namespace flashbench
