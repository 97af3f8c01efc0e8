#include "compare/differences.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace flashbench {

namespace {

using Differences = std::vector<std::string>;

// Only where both reports know the field.
void add(Differences& list, const char* field, const std::string& base, const std::string& now) {
  if (base.empty() || now.empty() || base == now) return;
  list.push_back(fmt::format("{}: {} against {}", field, base, now));
}

template <class Number>
void add(Differences& list, const char* field, const std::optional<Number>& base,
         const std::optional<Number>& now) {
  if (base && now && *base != *now)
    list.push_back(fmt::format("{}: {} against {}", field, *base, *now));
}

std::string backend_of(const Report& report) {
  return recorded(report, "device/backend", std::string(name(report.device.backend))).value_or("");
}

void add_doubts_of(Differences& list, const char* which, const Report& report) {
  if (!recorded(report, "complete", report.complete).value_or(true))
    list.push_back(fmt::format("the {} report is incomplete", which));
  const auto says_device = [](const Report& each) { return !each.device.name.empty(); };
  if (!says_device(report) &&
      (report.origins.empty() || !std::ranges::all_of(report.origins, says_device)))
    list.push_back(
        fmt::format("the {} report does not say which device it was measured on", which));
}

}  // namespace

std::vector<std::string> differing_fields(const Report& base, const Report& now) {
  Differences list;
  add(list, "device.name", base.device.name, now.device.name);
  if (!base.device.name.empty() && !now.device.name.empty())
    add(list, "device.backend", backend_of(base), backend_of(now));
  add(list, "device.multiprocessors", base.device.multiprocessors, now.device.multiprocessors);
  add(list, "measurement.method", base.measurement.method, now.measurement.method);
  return list;
}

std::vector<std::string> lesser_differences(const Report& base, const Report& now) {
  Differences list;
  add(list, "device.power_limit_w", base.device.power_limit_w, now.device.power_limit_w);
  add(list, "device.driver", base.device.driver, now.device.driver);
  add(list, "device.cuda", base.device.cuda, now.device.cuda);
  add(list, "measurement.timer", base.measurement.timer, now.measurement.timer);
  add(list, "measurement.seed", recorded(base, "measurement/seed", base.measurement.seed),
      recorded(now, "measurement/seed", now.measurement.seed));
  return list;
}

std::vector<std::string> doubts(const Report& base, const Report& now) {
  Differences list;
  add_doubts_of(list, "base", base);
  add_doubts_of(list, "new", now);
  for (std::string& difference : lesser_differences(base, now))
    list.push_back(std::move(difference));
  return list;
}

}  // namespace flashbench
