#include "record/message_bodies.hpp"

namespace flashbench {

using namespace parts;

namespace {

void write(Json& json, const request::Hello& hello) {
  json["device"] = hello.device;
}
void read(const Json& json, request::Hello& hello) {
  hello.device = read_text(json, "device");
}

void write(Json& json, const request::Describe& describe) {
  json["impl"] = describe.impl;
  json["pass"] = name(describe.pass);
  json["problem"] = parts::to_json(describe.problem);
}
void read(const Json& json, request::Describe& describe) {
  describe.impl = read_text(json, "impl");
  describe.pass = read_word(json, "pass", describe.pass);
  describe.problem = problem_from_json(read_object(json, "problem"));
}

void write(Json& json, const request::Prepare& prepare) {
  json["problem"] = parts::to_json(prepare.problem);
  json["pass"] = name(prepare.pass);
  json["sets"] = Json::array();
  for (const InputSet& set : prepare.sets)
    json["sets"].push_back({{"seed", set.seed}, {"dir", set.dir}});
}
void read(const Json& json, request::Prepare& prepare) {
  prepare.problem = problem_from_json(read_object(json, "problem"));
  prepare.pass = read_word(json, "pass", prepare.pass);
  for (const Json& set : read_list(json, "sets"))
    prepare.sets.push_back({read_unsigned(set, "seed"), read_text(set, "dir")});
}

void write(Json& json, const request::Output& output) {
  json["impl"] = output.impl;
  json["pass"] = name(output.pass);
  json["set"] = output.set;
  json["dir"] = output.dir;
  json["stats_from"] = output.stats_from;
  json["inputs"] = output.inputs;
}
void read(const Json& json, request::Output& output) {
  output.impl = read_text(json, "impl");
  output.pass = read_word(json, "pass", output.pass);
  output.set = static_cast<int>(read_integer_or(json, "set", 0));
  output.dir = read_text(json, "dir");
  output.stats_from = read_text(json, "stats_from");
  output.inputs = read_flag(json, "inputs").value_or(false);
}

void write(Json& json, const request::Judge& judge) {
  json["impl"] = judge.impl;
  json["pass"] = name(judge.pass);
  json["set"] = judge.set;
  json["dir"] = judge.dir;
  json["rounded_scores"] = judge.rounded_scores;
}
void read(const Json& json, request::Judge& judge) {
  judge.impl = read_text(json, "impl");
  judge.pass = read_word(json, "pass", judge.pass);
  judge.set = static_cast<int>(read_integer_or(json, "set", 0));
  judge.dir = read_text(json, "dir");
  judge.rounded_scores = read_flag(json, "rounded_scores").value_or(false);
}

void write(Json& json, const request::Run& run) {
  json["impl"] = run.impl;
  json["pass"] = name(run.pass);
  json["for_ms"] = number(run.for_ms);
  json["count"] = integer(run.count);
  json["cache"] = name(run.cache);
  json["first_set"] = run.first_set;
}
void read(const Json& json, request::Run& run) {
  run.impl = read_text(json, "impl");
  run.pass = read_word(json, "pass", run.pass);
  run.for_ms = read_number(json, "for_ms");
  run.count = read_integer(json, "count");
  run.cache = read_word(json, "cache", run.cache);
  run.first_set = static_cast<int>(read_integer_or(json, "first_set", 0));
}

void write(Json& json, const request::Profile& profile) {
  json["impl"] = profile.impl;
  json["pass"] = name(profile.pass);
  json["range"] = profile.range;
}
void read(const Json& json, request::Profile& profile) {
  profile.impl = read_text(json, "impl");
  profile.pass = read_word(json, "pass", profile.pass);
  profile.range = read_text(json, "range");
}

void write(Json& json, const request::Ceiling& ceiling) {
  json["name"] = ceiling.name;
  json["for_ms"] = number(ceiling.for_ms);
}
void read(const Json& json, request::Ceiling& ceiling) {
  ceiling.name = read_text(json, "name");
  ceiling.for_ms = read_number_or(json, "for_ms", ceiling.for_ms);
}

void write(Json& json, const request::Count& count) {
  json["impl"] = count.impl;
  json["pass"] = name(count.pass);
  json["metrics"] = count.metrics;
  json["cache"] = name(count.cache);
}
void read(const Json& json, request::Count& count) {
  count.impl = read_text(json, "impl");
  count.pass = read_word(json, "pass", count.pass);
  count.metrics = read_texts(json, "metrics");
  count.cache = read_word(json, "cache", count.cache);
}

void write(Json&, const request::Drop&) {}
void read(const Json&, request::Drop&) {}
void write(Json&, const request::Bye&) {}
void read(const Json&, request::Bye&) {}

}  // namespace

void write_body(Json& json, const request::Any& any) {
  std::visit([&](const auto& body) { write(json, body); }, any);
}

request::Any read_request_body(std::size_t operation, const Json& json) {
  auto any = make_alternative<request::Any>(operation);
  std::visit([&](auto& body) { read(json, body); }, any);
  return any;
}

}  // namespace flashbench
