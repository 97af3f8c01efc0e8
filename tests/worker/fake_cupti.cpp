// Stands in for libcupti.so.13. What it does is in the environment variable FAKE_CUPTI, as words
// key=value:
//   chip (GH100), passes (2): how often a run has to be repeated, unknown: a metric that the chip
//   has not, uncountable: one that it has and cannot count, initialize, availability, enable, stop:
//   the code that the call of that name returns, support: of the device, in CUPTI's levels,
//   dropped: ranges that are lost, endless: it never says that all passes are done.
// A metric's value is the length of its name. Each call that a GPU would see is a line in the file
// FAKE_CUPTI_LOG.
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace {

std::string word(const std::string& key) {
  const char* text = std::getenv("FAKE_CUPTI");
  std::istringstream words(text ? text : "");
  for (std::string each; words >> each;)
    if (each.starts_with(key + "=")) return each.substr(key.size() + 1);
  return {};
}

int number(const std::string& key, int otherwise = 0) {
  const std::string text = word(key);
  return text.empty() ? otherwise : std::stoi(text);
}

CUptiResult code(const std::string& key) {
  return static_cast<CUptiResult>(number(key));
}

CUptiResult note(const std::string& line, CUptiResult result = CUPTI_SUCCESS) {
  if (const char* path = std::getenv("FAKE_CUPTI_LOG"))
    std::ofstream(path, std::ios::app) << line + "\n" << std::flush;
  return result;
}

std::string chip;  // outlives the calls
int done = 0;      // passes

}  // namespace

struct CUpti_Profiler_Host_Object {
  std::size_t metrics = 0;
};
struct CUpti_RangeProfiler_Object {};
static CUpti_RangeProfiler_Object profiler;

extern "C" {

CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "AN_ERROR";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*) {
  return code("initialize");
}
CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params* p) {
  p->isSupported = p->architecture = static_cast<CUpti_Profiler_Support_Level>(
      number("support", CUPTI_PROFILER_CONFIGURATION_SUPPORTED));
  return CUPTI_SUCCESS;
}
CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* p) {
  chip = word("chip").empty() ? "GH100" : word("chip");
  p->pChipName = chip.c_str();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* p) {
  p->counterAvailabilityImageSize = 16;
  return code("availability");
}
CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* p) {
  if (std::strcmp(p->pChipName, "GH100") != 0) return CUPTI_ERROR_INVALID_CHIP_NAME;
  p->pHostObject = new CUpti_Profiler_Host_Object;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* p) {
  delete p->pHostObject;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetMetricProperties(
    CUpti_Profiler_Host_GetMetricProperties_Params* p) {
  return p->pMetricName == word("unknown") ? CUPTI_ERROR_INVALID_METRIC_NAME : CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* p) {
  for (std::size_t i = 0; i < p->numMetrics; ++i)
    if (p->ppMetricNames[i] == word("unknown") || p->ppMetricNames[i] == word("uncountable"))
      return CUPTI_ERROR_INVALID_METRIC_NAME;
  p->pHostObject->metrics += p->numMetrics;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* p) {
  p->configImageSize = p->pHostObject->metrics;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params*) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* p) {
  p->numOfPasses = static_cast<std::size_t>(number("passes", 2));
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostEvaluateToGpuValues(
    CUpti_Profiler_Host_EvaluateToGpuValues_Params* p) {
  for (std::size_t i = 0; i < p->numMetrics; ++i)
    p->pMetricValues[i] = static_cast<double>(std::strlen(p->ppMetricNames[i]));
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* p) {
  p->pRangeProfilerObject = &profiler;
  done = 0;
  return note("enable", code("enable"));
}
CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params*) {
  return note("disable");
}
CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* p) {
  p->counterDataSize = 8 * p->numMetrics;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params*) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* p) {
  return p->range == CUPTI_UserRange && p->replayMode == CUPTI_UserReplay && p->configSize > 0
             ? CUPTI_SUCCESS
             : CUPTI_ERROR_INVALID_PARAMETER;
}
CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params*) {
  return note("start");
}
CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params*) {
  return note("push");
}
CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params*) {
  return note("pop");
}
CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* p) {
  p->isAllPassSubmitted = ++done >= number("passes", 2) && word("endless").empty();
  return note("stop", code("stop"));
}
CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* p) {
  p->numOfRangeDropped = static_cast<std::size_t>(number("dropped"));
  return note("decode");
}
CUptiResult cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* p) {
  p->numTotalRanges = 1;
  return CUPTI_SUCCESS;
}
}
