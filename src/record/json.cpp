#include "record/json.hpp"

#include <map>

#include "record/json_parts.hpp"
#include "record/unrecorded.hpp"

namespace flashbench {

using namespace parts;

namespace {

constexpr const char* report_schema = "flashbench.report/1";

Json ceiling_to_json(const Ceiling& ceiling) {
  const char* of = ceiling.name == "copy" ? "byte" : ceiling.name == "exp2" ? "exp2" : "FLOP";
  return {
      {"name", ceiling.name}, {"rate_per_s", number(ceiling.rate)}, {"of", of}, {"n", ceiling.n}};
}

Json measurement_to_json(const Measurement& measurement) {
  return {{"cache", name(measurement.cache)},
          {"timer", text_or_null(measurement.timer)},
          {"method", text_or_null(measurement.method)},
          {"precision", number(measurement.precision)},
          {"time_budget_s", number(measurement.time_budget_s)},
          {"min_samples", integer(measurement.min_samples)},
          {"iters", integer(measurement.iters)},
          {"warmup", integer(measurement.warmup)},
          {"flush_bytes", integer(measurement.flush_bytes)},
          {"seed", measurement.seed},
          {"check", text_or_null(measurement.check)}};
}

Measurement measurement_from_json(const Json& json) {
  Measurement measurement;
  measurement.cache = read_word(json, "cache", measurement.cache);
  measurement.timer = read_text(json, "timer");
  measurement.method = read_text(json, "method");
  measurement.precision = read_number(json, "precision");
  measurement.time_budget_s = read_number(json, "time_budget_s");
  measurement.min_samples = read_integer(json, "min_samples");
  measurement.iters = read_integer(json, "iters");
  measurement.warmup = read_integer(json, "warmup");
  measurement.flush_bytes = read_integer(json, "flush_bytes");
  measurement.seed = read_unsigned(json, "seed");
  measurement.check = read_text(json, "check");
  return measurement;
}

// A row whose file gives neither a key nor all that makes one has none to be equal. Of a merged
// report only the rows of one origin.
void refuse_equal_keys(const std::vector<Row>& rows) {
  std::map<std::pair<std::optional<std::size_t>, std::string>, std::size_t> places;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].unrecorded.contains("key")) continue;
    const auto [place, is_first] = places.try_emplace({rows[i].origin, identity(rows[i])}, i);
    if (!is_first)
      throw ProtocolError("rows[" + std::to_string(place->second) + "] and rows[" +
                          std::to_string(i) + "] have the same key " +
                          line_of(place->first.second) + "; a report holds a row once");
  }
}

}  // namespace

Json to_json(const DeviceFacts& device) {
  return {{"backend", name(device.backend)},
          {"name", text_or_null(device.name)},
          {"uuid", text_or_null(device.uuid)},
          {"pci", text_or_null(device.pci)},
          {"ordinal", integer(device.ordinal)},
          {"compute_capability", integer(device.compute_capability)},
          {"multiprocessors", integer(device.multiprocessors)},
          {"clock_mhz", number(device.clock_mhz)},
          {"memory_clock_mhz", number(device.memory_clock_mhz)},
          {"memory_bytes", integer(device.memory_bytes)},
          {"l2_bytes", integer(device.l2_bytes)},
          {"shared_bytes_per_block", integer(device.shared_bytes_per_block)},
          {"shared_bytes_per_multiprocessor", integer(device.shared_bytes_per_multiprocessor)},
          {"driver", text_or_null(device.driver)},
          {"cuda", text_or_null(device.cuda)},
          {"power_limit_w", number(device.power_limit_w)},
          {"peak_tflops", number(device.peak_tflops)},
          {"peak_gbps", number(device.peak_gbps)},
          {"peak_source", text_or_null(device.peak_source)}};
}

DeviceFacts device_from_json(const Json& json) {
  DeviceFacts device;
  device.backend = read_word(json, "backend", device.backend);
  device.name = read_text(json, "name");
  device.uuid = read_text(json, "uuid");
  device.pci = read_text(json, "pci");
  device.ordinal = read_integer(json, "ordinal");
  device.compute_capability = read_integer(json, "compute_capability");
  device.multiprocessors = read_integer(json, "multiprocessors");
  device.clock_mhz = read_number(json, "clock_mhz");
  device.memory_clock_mhz = read_number(json, "memory_clock_mhz");
  device.memory_bytes = read_integer(json, "memory_bytes");
  device.l2_bytes = read_integer(json, "l2_bytes");
  device.shared_bytes_per_block = read_integer(json, "shared_bytes_per_block");
  device.shared_bytes_per_multiprocessor = read_integer(json, "shared_bytes_per_multiprocessor");
  device.driver = read_text(json, "driver");
  device.cuda = read_text(json, "cuda");
  device.power_limit_w = read_number(json, "power_limit_w");
  device.peak_tflops = read_number(json, "peak_tflops");
  device.peak_gbps = read_number(json, "peak_gbps");
  device.peak_source = read_text(json, "peak_source");
  return device;
}

namespace {

// All but rows and origins.
Json top_to_json(const Report& report) {
  Json ceilings = Json::array();
  for (const Ceiling& ceiling : report.ceilings) ceilings.push_back(ceiling_to_json(ceiling));
  Json json = {{"schema", report_schema},
               {"complete", report.complete},
               {"tool",
                {{"version", text_or_null(report.tool_version)},
                 {"commit", text_or_null(report.tool_commit)},
                 {"build", text_or_null(report.tool_build)}}},
               {"argv", report.argv},
               {"started", text_or_null(report.started)},
               {"label", text_or_null(report.label)},
               {"host", text_or_null(report.host)},
               {"view", text_or_null(report.view)},
               {"device", to_json(report.device)},
               {"ceilings", std::move(ceilings)},
               {"measurement", measurement_to_json(report.measurement)}};
  take_out(json, report.unrecorded);
  return json;
}

Report top_from_json(const Json& json) {
  Report report;
  report.complete = read_flag(json, "complete").value_or(false);
  const Json& tool = read_object(json, "tool");
  report.tool_version = read_text(tool, "version");
  report.tool_commit = read_text(tool, "commit");
  report.tool_build = read_text(tool, "build");
  report.argv = read_texts(json, "argv");
  report.started = read_text(json, "started");
  report.label = read_text(json, "label");
  report.host = read_text(json, "host");
  report.view = read_text(json, "view");
  report.device = device_from_json(read_object(json, "device"));
  for (const Json& each : read_list(json, "ceilings"))
    report.ceilings.push_back({read_text(each, "name"), read_number_or(each, "rate_per_s", 0),
                               read_integer_or(each, "n", 0)});
  report.measurement = measurement_from_json(read_object(json, "measurement"));
  report.unrecorded = unrecorded_of_report(json, top_to_json(report));
  return report;
}

Row row_of_report(const Json& json, const Report& report) {
  Row row = row_from_json(json);
  if (row.label == report.label) row.label.clear();
  if (row.origin && *row.origin >= report.origins.size())
    throw ProtocolError("\"origin\" is " + std::to_string(*row.origin) + ", and there are " +
                        std::to_string(report.origins.size()) + " origins");
  return row;
}

// What two tops say alike; null where they differ.
Json shared_part(const Json& one, const Json& other) {
  if (!one.is_object() || !other.is_object()) return one == other ? one : Json();
  Json shared = Json::object();
  for (const auto& [key, value] : one.items())
    shared[key] = shared_part(value, member(other, key.c_str()));
  return shared;
}

}  // namespace

Json to_json(const Report& report) {
  Json json = top_to_json(report);
  if (!report.origins.empty()) json["origins"] = Json::array();
  for (const Report& origin : report.origins) json["origins"].push_back(top_to_json(origin));
  Json& rows = json["rows"] = Json::array();
  for (const Row& row : report.rows) {
    rows.push_back(to_json(row));
    if (row.label.empty()) rows.back()["label"] = text_or_null(report.label);
  }
  return json;
}

Report report_from_json(const Json& json) {
  if (!json.is_object()) throw ProtocolError("a report is a JSON object; this is none");
  if (member(json, "schema").is_null())
    throw ProtocolError(std::string("\"schema\" is missing, expected \"") + report_schema + "\"");
  const std::string schema = read_text(json, "schema");
  if (schema != report_schema)
    throw ProtocolError("\"schema\" is \"" + schema + "\", expected \"" + report_schema + "\"");
  const Json& rows = member(json, "rows");
  if (!rows.is_array()) throw ProtocolError("\"rows\": expected a list of rows");
  Report report = top_from_json(json);
  for (const Json& origin : read_list(json, "origins"))
    report.origins.push_back(top_from_json(origin));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    try {
      report.rows.push_back(row_of_report(rows[i], report));
    } catch (const ProtocolError& error) {
      throw ProtocolError("rows[" + std::to_string(i) + "]: " + error.what());
    }
  }
  refuse_equal_keys(report.rows);
  return report;
}

Report common_top(const Report& one, const Report& other) {
  return top_from_json(shared_part(top_to_json(one), top_to_json(other)));
}

std::string report_text(const Report& report) {
  return to_json(report).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Report parse_report(const std::string& text, const std::string& name_for_errors) {
  KeyWatch watch;
  const Json json = parse_text(text, name_for_errors, &watch);
  try {
    return report_from_json(json);
  } catch (const ProtocolError& error) {
    throw ProtocolError(name_for_errors + ": " + error.what());
  }
}

std::string row_line(const Row& row) {
  return line_of(to_json(row));
}

Row parse_row_line(const std::string& line) {
  return row_from_json(parse_text(line, "journal line \"" + line.substr(0, 60) + "\""));
}

}  // namespace flashbench
