#include "record/comparison.hpp"
#include "record/json_parts.hpp"

namespace flashbench {

using namespace parts;

namespace {

Json pair_to_json(const Pair& pair) {
  Json time;
  if (pair.time)
    time = {{"value", number(pair.time->value)},
            {"low", pair.time->has_interval ? number(pair.time->low) : Json()},
            {"high", pair.time->has_interval ? number(pair.time->high) : Json()}};
  const bool has_key = !pair.row.unrecorded.contains("key");
  return {{"key", has_key ? Json(identity(pair.row)) : Json()},
          {"impl", text_or_null(pair.row.what.impl)},
          {"verdict", name(pair.change)},
          {"reason", text_or_null(pair.reason)},
          {"details", text_or_null(pair.details)},
          {"base_ms", number(pair.base_ms)},
          {"new_ms", number(pair.new_ms)},
          {"time_ratio", std::move(time)},
          {"base_tflops", number(pair.base_tflops)},
          {"new_tflops", number(pair.new_tflops)},
          {"tflops_ratio", number(pair.tflops)},
          {"threshold", number(pair.threshold)}};
}

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  Json counts = Json::object(), pairs = Json::array();
  for (std::size_t i = 0; i < Words<Change>::all.size(); ++i) {
    const auto change = static_cast<Change>(i);
    counts[std::string(name(change))] = comparison.counted(change);
  }
  for (const Pair& pair : comparison.pairs) pairs.push_back(pair_to_json(pair));
  const Json json = {
      {"schema", "flashbench.comparison/1"}, {"exit_code", comparison.exit_code},
      {"counts", std::move(counts)},         {"failures", comparison.failures},
      {"differing", comparison.differing},   {"allowed_different", comparison.allowed_different},
      {"warnings", comparison.warnings},     {"pairs", std::move(pairs)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace flashbench
