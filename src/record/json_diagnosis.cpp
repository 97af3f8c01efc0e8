#include "record/diagnosis.hpp"
#include "record/json_parts.hpp"

namespace flashbench {

using namespace parts;

namespace {

Json spread_to_json(const Spread& spread) {
  return {{"pairs", spread.pairs},
          {"largest", number(spread.largest)},
          {"resolved", number(spread.resolved)},
          {"alarms", spread.alarms}};
}

Json resolution_to_json(const Resolution& row) {
  return {{"name", row.name},
          {"key", key(row.what)},
          {"problem", parts::to_json(row.what.problem)},
          {"median_ms", number(row.median_ms)},
          {"half_width", number(row.half_width)},
          {"least_samples", row.least_samples},
          {"same_rounds", spread_to_json(row.same_rounds)},
          {"other_runs", spread_to_json(row.other_runs)},
          {"clock_mhz", number(row.clock_mhz)},
          {"flags", row.flags}};
}

Json machine_to_json(const MachineState& machine) {
  return {{"cpus", machine.cpus},
          {"load", number(machine.load)},
          {"busy", number(machine.busy)},
          {"stolen", number(machine.stolen)},
          {"cpu_quota", number(machine.cpu_quota)},
          {"governor", text_or_null(machine.governor)},
          {"turbo", flag(machine.turbo)},
          {"clock_mhz", number(machine.clock_mhz)},
          {"highest_clock_mhz", number(machine.highest_clock_mhz)}};
}

}  // namespace

std::string diagnosis_text(const Diagnosis& diagnosis) {
  Json rows = Json::array();
  for (const Resolution& row : diagnosis.rows) rows.push_back(resolution_to_json(row));
  const Json json = {{"schema", "flashbench.doctor/1"},
                     {"complete", diagnosis.complete},
                     {"device", to_json(diagnosis.device)},
                     {"impl", text_or_null(diagnosis.impl)},
                     {"repeats", diagnosis.repeats},
                     {"time_budget_s", number(diagnosis.time_budget_s)},
                     {"machine", machine_to_json(diagnosis.machine)},
                     {"timer_step_us", number(diagnosis.timer_step_us)},
                     {"launch_gap_us", number(diagnosis.launch_gap_us)},
                     {"rows", std::move(rows)},
                     {"advice", diagnosis.advice}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace flashbench
