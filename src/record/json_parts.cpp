#include "record/json_parts.hpp"

namespace flashbench::parts {

Json to_json(const Problem& problem) {
  return {{"batch", problem.batch},         {"heads", problem.heads},
          {"kv_heads", problem.kv_heads},   {"seq_q", problem.seq_q},
          {"seq_k", problem.seq_k},         {"head_dim", problem.head_dim},
          {"dtype", name(problem.dtype)},   {"mask", name(problem.mask)},
          {"scale", number(problem.scale)}, {"layout", name(problem.layout)},
          {"init", name(problem.init)},     {"deterministic", problem.deterministic}};
}

Problem problem_from_json(const Json& json) {
  Problem problem;
  problem.batch = read_integer_or(json, "batch", problem.batch);
  problem.heads = read_integer_or(json, "heads", problem.heads);
  problem.kv_heads = read_integer_or(json, "kv_heads", problem.heads);
  problem.seq_q = read_integer_or(json, "seq_q", problem.seq_q);
  problem.seq_k = read_integer_or(json, "seq_k", problem.seq_q);
  problem.head_dim = read_integer_or(json, "head_dim", problem.head_dim);
  problem.dtype = read_word(json, "dtype", problem.dtype);
  problem.mask = read_word(json, "mask", problem.mask);
  problem.scale = read_number_or(json, "scale", problem.scale);
  problem.layout = read_word(json, "layout", problem.layout);
  problem.init = read_word(json, "init", problem.init);
  problem.deterministic = read_flag(json, "deterministic").value_or(false);
  return problem;
}

Json to_json(const Time& time) {
  Json samples = Json::array(), sets = Json::array();
  for (const Sample& sample : time.samples) {
    samples.push_back(number(sample.ms));
    sets.push_back(sample.set);
  }
  return {
      {"median", number(time.median)}, {"low", number(time.low)},       {"high", number(time.high)},
      {"min", number(time.min)},       {"p05", number(time.p05)},       {"p95", number(time.p95)},
      {"mean", number(time.mean)},     {"stddev", number(time.stddev)}, {"n", time.n},
      {"samples", std::move(samples)}, {"sets", std::move(sets)}};
}

// `json` has a median. What else is absent is taken to be the median, but for the interval.
Time time_from_json(const Json& json, double to_ms) {
  Time time;
  const double median = read_number_or(json, "median", 0);
  const auto read = [&](const char* key, double otherwise) {
    return to_ms * read_number_or(json, key, otherwise);
  };
  time.median = read("median", median);
  const auto end = [&](const char* key) -> std::optional<double> {
    const std::optional<double> value = read_number(json, key);
    return value ? std::optional(to_ms * *value) : std::nullopt;
  };
  time.low = end("low");
  time.high = end("high");
  time.min = read("min", median);
  time.p05 = read("p05", median);
  time.p95 = read("p95", median);
  time.mean = read("mean", median);
  time.stddev = read("stddev", 0);
  const Json& samples = read_list(json, "samples");
  const Json& sets = read_list(json, "sets");
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].is_null()) continue;
    if (!samples[i].is_number()) wrong_type("samples", "a list of numbers", samples[i]);
    const int set = i < sets.size() && sets[i].is_number_integer() ? sets[i].get<int>() : 0;
    time.samples.push_back({to_ms * samples[i].get<double>(), set});
  }
  time.n = read_integer_or(json, "n", static_cast<std::int64_t>(time.samples.size()));
  return time;
}

namespace {

Json operands_to_json(const std::map<std::string, double>& operands) {
  Json json = Json::object();
  for (const auto& [operand, bytes] : operands) json[operand] = number(bytes);
  return json;
}

std::map<std::string, double> operands_from_json(const Json& json) {
  std::map<std::string, double> operands;
  for (const auto& [operand, bytes] : json.items())
    if (const auto value = read_number(json, operand.c_str())) operands[operand] = *value;
  return operands;
}

}  // namespace

Json to_json(const Traffic& traffic) {
  return {{"read", operands_to_json(traffic.read)},
          {"written", operands_to_json(traffic.written)},
          {"total_bytes", number(traffic.total())}};
}

Traffic traffic_from_json(const Json& json) {
  return {operands_from_json(read_object(json, "read")),
          operands_from_json(read_object(json, "written"))};
}

Json to_json(const Cost& cost) {
  Json kernels = Json::array();
  for (const KernelCost& kernel : cost.kernels)
    kernels.push_back({{"kernel", kernel.kernel},
                       {"pipe", name(kernel.pipe)},
                       {"flops", number(kernel.flops)},
                       {"exponentials", number(kernel.exponentials)},
                       {"traffic", to_json(kernel.traffic)}});
  return {{"kernels", std::move(kernels)},
          {"workspace_bytes", cost.workspace_bytes},
          {"saves", cost.saves}};
}

Cost cost_from_json(const Json& json) {
  Cost cost;
  for (const Json& each : read_list(json, "kernels"))
    cost.kernels.push_back({read_text(each, "kernel"), read_word(each, "pipe", Pipe::none),
                            read_number_or(each, "flops", 0),
                            read_number_or(each, "exponentials", 0),
                            traffic_from_json(read_object(each, "traffic"))});
  cost.workspace_bytes = read_integer_or(json, "workspace_bytes", 0);
  cost.saves = read_texts(json, "saves");
  return cost;
}

Json to_json(const Launch& launch) {
  return {{"kernel", launch.kernel},
          {"registers", integer(launch.registers)},
          {"spilled_bytes", integer(launch.spilled_bytes)},
          {"threads", integer(launch.threads)},
          {"shared_bytes", integer(launch.shared_bytes)},
          {"blocks", integer(launch.blocks)},
          {"blocks_per_multiprocessor", integer(launch.blocks_per_multiprocessor)},
          {"waves", number(launch.waves)}};
}

Launch launch_from_json(const Json& json) {
  return {read_text(json, "kernel"),
          read_integer(json, "registers"),
          read_integer(json, "spilled_bytes"),
          read_integer(json, "threads"),
          read_integer(json, "shared_bytes"),
          read_integer(json, "blocks"),
          read_integer(json, "blocks_per_multiprocessor"),
          read_number(json, "waves")};
}

Json to_json(const Counts& counts) {
  return {{"traffic", to_json(counts.traffic)},    {"exponentials", number(counts.exponentials)},
          {"divisions", number(counts.divisions)}, {"corrections", number(counts.corrections)},
          {"merges", number(counts.merges)},       {"barriers", number(counts.barriers)},
          {"flops", number(counts.flops)}};
}

Counts counts_from_json(const Json& json) {
  return {traffic_from_json(read_object(json, "traffic")),
          read_number_or(json, "exponentials", 0),
          read_number_or(json, "divisions", 0),
          read_number_or(json, "corrections", 0),
          read_number_or(json, "merges", 0),
          read_number_or(json, "barriers", 0),
          read_number_or(json, "flops", 0)};
}

Json to_json(const TensorCheck& check) {
  return {{"tensor", check.tensor},
          {"max_abs", number(check.max_abs)},
          {"rmse", number(check.rmse)},
          {"ratio", number(check.ratio)},
          {"worst", check.worst ? Json(*check.worst) : Json()},
          {"rows_checked", check.rows_checked},
          {"rows_total", check.rows_total},
          {"verdict", name(check.verdict)},
          {"reason", text_or_null(check.reason)}};
}

TensorCheck check_from_json(const Json& json) {
  TensorCheck check;
  check.tensor = read_text(json, "tensor");
  check.max_abs = read_number(json, "max_abs");
  check.rmse = read_number(json, "rmse");
  check.ratio = read_number(json, "ratio");
  const Json& worst = read_list(json, "worst");
  if (worst.size() == 4) {
    check.worst.emplace();
    for (std::size_t i = 0; i < 4; ++i) {
      if (!worst[i].is_number_integer()) wrong_type("worst", "four integers", worst);
      (*check.worst)[i] = worst[i].get<std::int64_t>();
    }
  }
  check.rows_checked = read_integer_or(json, "rows_checked", 0);
  check.rows_total = read_integer_or(json, "rows_total", check.rows_checked);
  check.verdict = read_word(json, "verdict", Verdict::not_checked);
  check.reason = read_text(json, "reason");
  return check;
}

}  // namespace flashbench::parts
