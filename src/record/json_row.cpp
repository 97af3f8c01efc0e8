#include "record/json_parts.hpp"
#include "record/unrecorded.hpp"

namespace flashbench {

using namespace parts;

Json to_json(const Case& what) {
  return {{"impl", what.impl},
          {"pass", name(what.pass)},
          {"source", what.source},
          {"backend", name(what.backend)},
          {"cache", name(what.cache)},
          {"init", name(what.problem.init)},
          {"problem", parts::to_json(what.problem)}};
}

Case case_from_json(const Json& json) {
  Case what;
  what.impl = read_text(json, "impl");
  what.pass = read_word(json, "pass", what.pass);
  what.problem = problem_from_json(read_object(json, "problem"));
  what.problem.init = read_word(json, "init", what.problem.init);
  what.backend = read_word(json, "backend", what.backend);
  what.cache = read_word(json, "cache", what.cache);
  what.source = read_text(json, "source", "built-in");
  return what;
}

namespace {

Json memory_to_json(const Memory& memory) {
  return {{"workspace_bytes", integer(memory.workspace_bytes)},
          {"saved_bytes", integer(memory.saved_bytes)},
          {"inputs_bytes", integer(memory.inputs_bytes)},
          {"outputs_bytes", integer(memory.outputs_bytes)},
          {"device_bytes", integer(memory.device_bytes)},
          {"needed_bytes", integer(memory.needed_bytes)}};
}

Memory memory_from_json(const Json& json) {
  return {read_integer(json, "workspace_bytes"), read_integer(json, "saved_bytes"),
          read_integer(json, "inputs_bytes"),    read_integer(json, "outputs_bytes"),
          read_integer(json, "device_bytes"),    read_integer(json, "needed_bytes")};
}

// model: what the implementation declares; host: what the CPU implementation counted; measured:
// hardware counters; uncounted: only where there were none to be had.
Json traffic_of(const Row& row) {
  Json model, host, measured;
  if (row.cost) {
    Traffic sum;
    for (const KernelCost& kernel : row.cost->kernels) {
      for (const auto& [operand, bytes] : kernel.traffic.read) sum.read[operand] += bytes;
      for (const auto& [operand, bytes] : kernel.traffic.written) sum.written[operand] += bytes;
    }
    model = parts::to_json(sum);
  }
  if (row.counts) host = parts::to_json(row.counts->traffic);
  for (const auto& [metric, value] : row.measured) measured[metric] = number(value);
  Json traffic{{"model", std::move(model)}, {"host", std::move(host)}, {"measured", measured}};
  if (!row.uncounted.empty()) traffic["uncounted"] = row.uncounted;
  return traffic;
}

Json numerics_of(const Row& row) {
  Json numerics = Json::object();
  for (const TensorCheck& check : row.numerics) {
    Json each = parts::to_json(check);
    each.erase("tensor");
    numerics[check.tensor] = std::move(each);
  }
  return numerics;
}

// Only a row that is ok has figures: a wrong or broken run is never shown to be fast.
void write_figures(Json& json, const Row& row) {
  const bool ok = row.status == Status::ok;
  json["time_ms"] = ok && row.time ? parts::to_json(*row.time) : Json();
  json["tflops"] = ok ? number(row.tflops) : Json();
  const Utilization use = ok ? row.utilization : Utilization{};
  json["utilization"] = {{"peak", number(use.peak)},
                         {"ceiling", number(use.ceiling)},
                         {"binds", text_or_null(use.binds)},
                         {"floor_ms", number(use.floor_ms)}};
  json["speedup"] = Json();
  if (ok && row.speedup)
    json["speedup"] = {{"vs", row.speedup->vs},
                       {"value", number(row.speedup->value)},
                       {"low", number(row.speedup->low)},
                       {"high", number(row.speedup->high)}};
}

// Like all figures of a row: without them where it is not ok.
Json ladder_to_json(const Row& row) {
  if (!row.ladder) return {};
  const LadderPlace& place = *row.ladder;
  const bool ok = row.status == Status::ok, is_forward = row.what.pass == Pass::fwd;
  const auto figure = [&](const std::optional<double>& value) {
    return ok ? number(value) : Json();
  };
  return {{"idea", place.idea},
          {"section", place.section},
          {"vs", text_or_null(place.vs)},
          {"gain", figure(place.gain)},
          {"low", figure(place.low)},
          {"high", figure(place.high)},
          {"share", figure(place.share)},
          {"executed_flops", number(executed_flops(row))},
          {"o_bytes", is_forward ? number(modelled_bytes(row, "o")) : Json()},
          {"dq_bytes", is_forward ? Json() : number(modelled_bytes(row, "dq"))}};
}

std::optional<LadderPlace> read_ladder(const Json& json) {
  const Json& place = member(json, "ladder");
  if (!place.is_object()) return std::nullopt;
  return LadderPlace{read_text(place, "idea"),   read_text(place, "section"),
                     read_text(place, "vs"),     read_number(place, "gain"),
                     read_number(place, "low"),  read_number(place, "high"),
                     read_number(place, "share")};
}

void write_costs(Json& json, const Row& row) {
  json["flops"] = {{"counted", number(row.flops.counted)},
                   {"exact", number(row.flops.exact)},
                   {"convention", text_or_null(row.flops.convention)}};
  json["cost"] = row.cost ? parts::to_json(*row.cost) : Json();
  json["counts"] = row.counts ? parts::to_json(*row.counts) : Json();
  json["traffic"] = traffic_of(row);
  json["memory"] = memory_to_json(row.memory);
  json["launches"] = list_of(row.launches);
  json["numerics"] = numerics_of(row);
}

bool has_flag(const Row& row, const char* flag) {
  for (const auto& each : row.flags)
    if (each == flag) return true;
  return false;
}

// Times of another unit are converted: some tools write microseconds.
struct Unit {
  const char* key;
  double to_ms;
};
Unit unit_of_time(const Json& json) {
  for (const Unit unit : {Unit{"time_us", 1e-3}, Unit{"time_ns", 1e-6}, Unit{"time_s", 1e3}})
    if (read_number(read_object(json, unit.key), "median") &&
        !read_number(read_object(json, "time_ms"), "median"))
      return unit;
  return {"time_ms", 1};
}

std::optional<Time> read_time(const Json& json) {
  const Unit unit = unit_of_time(json);
  const Json& time = read_object(json, unit.key);
  if (!read_number(time, "median")) return std::nullopt;
  return time_from_json(time, unit.to_ms);
}

// What the file lacks of what the row would be written as.
std::set<std::string> unrecorded_in(const Json& json, const Row& row) {
  const std::string time = unit_of_time(json).key;
  if (time == "time_ms") return unrecorded_of_row(json, to_json(row));
  Json converted = json;
  converted["time_ms"] = json.at(time);
  return unrecorded_of_row(converted, to_json(row));
}

void read_figures(Row& row, const Json& json) {
  row.time = read_time(json);
  row.tflops = read_number(json, "tflops");
  const Json& use = read_object(json, "utilization");
  row.utilization = {read_number(use, "peak"), read_number(use, "ceiling"), read_text(use, "binds"),
                     read_number(use, "floor_ms")};
  const Json& speedup = read_object(json, "speedup");
  if (const auto value = read_number(speedup, "value"))
    row.speedup = {read_text(speedup, "vs"), *value, read_number(speedup, "low"),
                   read_number(speedup, "high")};
}

void read_costs(Row& row, const Json& json) {
  const Json& count = read_object(json, "flops");
  row.flops = {read_number_or(count, "counted", 0), read_number_or(count, "exact", 0),
               read_text(count, "convention")};
  if (member(json, "cost").is_object()) row.cost = cost_from_json(member(json, "cost"));
  if (member(json, "counts").is_object()) row.counts = counts_from_json(member(json, "counts"));
  const Json& measured = read_object(read_object(json, "traffic"), "measured");
  for (const auto& [metric, value] : measured.items())
    row.measured[metric] = read_number(measured, metric.c_str());
  row.uncounted = read_text(read_object(json, "traffic"), "uncounted");
  row.memory = memory_from_json(read_object(json, "memory"));
  for (const Json& each : read_list(json, "launches"))
    row.launches.push_back(launch_from_json(each));
  for (const auto& [tensor, check] : read_object(json, "numerics").items()) {
    row.numerics.push_back(check_from_json(check));
    row.numerics.back().tensor = tensor;
  }
}

void read_notes(Row& row, const Json& json) {
  row.clock_mhz = read_number(json, "clock_mhz");
  row.flags = read_texts(json, "flags");
  if (read_flag(json, "throttled").value_or(false) && !has_flag(row, "throttled"))
    row.flags.push_back("throttled");
  row.drift = read_number(json, "drift");
  row.deterministic = read_flag(json, "deterministic");
  row.shared_rounds_with = read_texts(json, "shared_rounds_with");
  row.inputs_checksum = read_texts(json, "inputs_checksum");
  row.command = read_text(json, "command");
  row.label = read_text(json, "label");
  if (read_integer(json, "origin")) row.origin = read_unsigned(json, "origin");
}

}  // namespace

Json to_json(const Row& row) {
  Json json = {{"key", identity(row)}};
  json.update(to_json(row.what));
  json["label"] = text_or_null(row.label);
  json["status"] = name(row.status);
  json["reason"] = text_or_null(row.reason);
  write_figures(json, row);
  json["ladder"] = ladder_to_json(row);
  write_costs(json, row);
  json["clock_mhz"] = number(row.clock_mhz);
  json["throttled"] = has_flag(row, "throttled");
  json["flags"] = row.flags;
  json["drift"] = number(row.drift);
  json["deterministic"] = flag(row.deterministic);
  json["shared_rounds_with"] = row.shared_rounds_with;
  json["inputs_checksum"] = row.inputs_checksum.empty() ? Json() : Json(row.inputs_checksum);
  json["command"] = text_or_null(row.command);
  if (row.origin) json["origin"] = *row.origin;
  take_out(json, row.unrecorded);
  return json;
}

Row row_from_json(const Json& json) {
  if (!json.is_object()) wrong_type("rows", "an object a row", json);
  Row row;
  row.what = case_from_json(json);
  row.recorded_key = read_text(json, "key");
  if (row.recorded_key == key(row.what)) row.recorded_key.clear();
  read_figures(row, json);
  row.ladder = read_ladder(json);
  row.status = read_word(json, "status", row.time ? Status::ok : Status::not_run);
  row.reason = read_text(json, "reason");
  read_costs(row, json);
  read_notes(row, json);
  row.unrecorded = unrecorded_in(json, row);
  return row;
}

}  // namespace flashbench
