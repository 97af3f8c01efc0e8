#include "record/message_bodies.hpp"

namespace flashbench {

using namespace parts;

namespace {

void write(Json& json, const reply::Hello& hello) {
  json["protocol"] = hello.protocol;
  json["method"] = hello.method;
  json["tool"] = hello.tool;
  json["source"] = hello.source;
  json["device"] = hello.device ? to_json(*hello.device) : Json();
  json["device_reason"] = hello.device_reason;
  json["stand_in"] = hello.stand_in;
  json["implementations"] = Json::array();
  for (const ImplementationFacts& each : hello.implementations)
    json["implementations"].push_back({{"name", each.name},
                                       {"idea", each.idea},
                                       {"section", each.section},
                                       {"passes", each.passes}});
  json["ceilings"] = hello.ceilings;
}
void read(const Json& json, reply::Hello& hello) {
  hello.protocol = static_cast<int>(read_integer_or(json, "protocol", 0));
  hello.method = read_text(json, "method");
  hello.tool = read_text(json, "tool");
  hello.source = read_text(json, "source");
  if (member(json, "device").is_object()) hello.device = device_from_json(member(json, "device"));
  hello.device_reason = read_text(json, "device_reason");
  hello.stand_in = read_text(json, "stand_in");
  for (const Json& each : read_list(json, "implementations"))
    hello.implementations.push_back({read_text(each, "name"), read_text(each, "idea"),
                                     read_text(each, "section"), read_texts(each, "passes")});
  hello.ceilings = read_texts(json, "ceilings");
}

void write(Json& json, const reply::Describe& describe) {
  json["inputs_bytes"] = describe.inputs_bytes;
  json["outputs_bytes"] = describe.outputs_bytes;
  json["cost"] = parts::to_json(describe.cost);
  json["room_bytes"] = integer(describe.room_bytes);
}
void read(const Json& json, reply::Describe& describe) {
  describe.inputs_bytes = read_integer_or(json, "inputs_bytes", 0);
  describe.outputs_bytes = read_integer_or(json, "outputs_bytes", 0);
  describe.cost = cost_from_json(read_object(json, "cost"));
  describe.room_bytes = read_integer(json, "room_bytes");
}

void write(Json& json, const reply::Prepare& prepare) {
  json["checksums"] = prepare.checksums;
  json["free_bytes"] = integer(prepare.free_bytes);
}
void read(const Json& json, reply::Prepare& prepare) {
  prepare.checksums = read_texts(json, "checksums");
  prepare.free_bytes = read_integer(json, "free_bytes");
}

void write(Json& json, const reply::Output& output) {
  json["hash"] = output.hash;
  json["guards_intact"] = output.guards_intact;
  json["guard_reason"] = output.guard_reason;
  json["repeats_equal"] = flag(output.repeats_equal);
  json["device_bytes"] = integer(output.device_bytes);
  json["launches"] = list_of(output.launches);
  json["counts"] = output.counts ? parts::to_json(*output.counts) : Json();
}
void read(const Json& json, reply::Output& output) {
  output.hash = read_text(json, "hash");
  output.guards_intact = read_flag(json, "guards_intact").value_or(false);
  output.guard_reason = read_text(json, "guard_reason");
  output.repeats_equal = read_flag(json, "repeats_equal");
  output.device_bytes = read_integer(json, "device_bytes");
  for (const Json& each : read_list(json, "launches"))
    output.launches.push_back(launch_from_json(each));
  if (member(json, "counts").is_object()) output.counts = counts_from_json(member(json, "counts"));
}

void write(Json& json, const reply::Judge& judge) {
  json["tensors"] = list_of(judge.tensors);
}
void read(const Json& json, reply::Judge& judge) {
  for (const Json& each : read_list(json, "tensors"))
    judge.tensors.push_back(check_from_json(each));
}

// Samples are pairs [ms, set]: a turn of many short samples must stay below the longest line.
void write(Json& json, const reply::Run& run) {
  json["samples"] = Json::array();
  for (const Sample& sample : run.samples)
    json["samples"].push_back(Json::array({number(sample.ms), sample.set}));
  json["hashes"] = run.hashes;
  json["guards_intact"] = run.guards_intact;
  json["guard_reason"] = run.guard_reason;
  json["enqueue_ms"] = number(run.enqueue_ms);
  json["wall_ms"] = number(run.wall_ms);
  json["flush_bytes"] = integer(run.flush_bytes);
}
void read(const Json& json, reply::Run& run) {
  for (const Json& pair : read_list(json, "samples")) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number() ||
        !pair[1].is_number_integer())
      wrong_type("samples", "pairs of milliseconds and set", pair);
    run.samples.push_back({pair[0].get<double>(), pair[1].get<int>()});
  }
  run.hashes = read_texts(json, "hashes");
  run.guards_intact = read_flag(json, "guards_intact").value_or(false);
  run.guard_reason = read_text(json, "guard_reason");
  run.enqueue_ms = read_number_or(json, "enqueue_ms", 0);
  run.wall_ms = read_number_or(json, "wall_ms", 0);
  run.flush_bytes = read_integer(json, "flush_bytes");
}

void write(Json& json, const reply::Profile& profile) {
  json["launches"] = list_of(profile.launches);
}
void read(const Json& json, reply::Profile& profile) {
  for (const Json& each : read_list(json, "launches"))
    profile.launches.push_back(launch_from_json(each));
}

void write(Json& json, const reply::Ceiling& ceiling) {
  json["rates"] = Json::array();
  for (const double rate : ceiling.rates) json["rates"].push_back(number(rate));
}
void read(const Json& json, reply::Ceiling& ceiling) {
  for (const Json& rate : read_list(json, "rates"))
    if (rate.is_number()) ceiling.rates.push_back(rate.get<double>());
}

void write(Json& json, const reply::Count& count) {
  json["values"] = Json::object();
  for (const auto& [metric, value] : count.values) json["values"][metric] = number(value);
}
void read(const Json& json, reply::Count& count) {
  const Json& values = read_object(json, "values");
  for (const auto& [metric, value] : values.items())
    count.values[metric] = read_number(values, metric.c_str());
}

void write(Json& json, const reply::Drop& drop) {
  json["free_bytes"] = integer(drop.free_bytes);
}
void read(const Json& json, reply::Drop& drop) {
  drop.free_bytes = read_integer(json, "free_bytes");
}
void write(Json&, const reply::Bye&) {}
void read(const Json&, reply::Bye&) {}

}  // namespace

void write_body(Json& json, const reply::Any& any) {
  std::visit([&](const auto& body) { write(json, body); }, any);
}

reply::Any read_reply_body(std::size_t operation, const Json& json) {
  auto any = make_alternative<reply::Any>(operation);
  std::visit([&](auto& body) { read(json, body); }, any);
  return any;
}

}  // namespace flashbench
