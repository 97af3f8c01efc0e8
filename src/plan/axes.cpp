#include "plan/axes.hpp"

#include "plan/values.hpp"

namespace flashbench {

namespace {

template <std::vector<std::int64_t> Sweep::*list, std::int64_t least, bool may_be_auto = false>
void add_integers(Sweep& sweep, std::string_view text) {
  for (const std::string& part : split_list(text)) {
    if (may_be_auto && part == "auto") {
      (sweep.*list).push_back(automatic);
      continue;
    }
    for (const std::int64_t value : parse_integers(part, least)) (sweep.*list).push_back(value);
  }
}

template <auto list>
void add_words(Sweep& sweep, std::string_view text) {
  using Enum = typename std::remove_reference_t<decltype(sweep.*list)>::value_type;
  for (const std::string& part : split_list(text)) (sweep.*list).push_back(parse_word<Enum>(part));
}

template <auto list>
void clear(Sweep& sweep) {
  (sweep.*list).clear();
}

void add_names(Sweep& sweep, std::string_view text) {
  for (const std::string& part : split_list(text)) sweep.impl.push_back(part);
}

void add_scales(Sweep& sweep, std::string_view text) {
  for (const std::string& part : split_list(text)) {
    const double scale = parse_number(part);
    sweep.scale.push_back(scale == 0 ? 0 : scale);  // -0 is no other case
  }
}

void add_inits(Sweep& sweep, std::string_view text) {
  std::vector<std::string> allowed = words_of<Init>();
  std::erase(allowed, "loaded");  // what --load makes of a row
  for (const std::string& part : split_list(text))
    sweep.init.push_back(parse_word<Init>(part, allowed));
}

using enum ValueType;

const std::vector<SweepAxis> axis_table{
    {"impl", "LIST",
     "names or globs; all and globs without / leave the ladder out;\n"
     "the first is what speed-ups refer to [naive,v1,v2 and those of --plugin]",
     word, add_names, clear<&Sweep::impl>},
    {"pass", "LIST", "fwd, bwd, fwd+bwd [fwd]", word, add_words<&Sweep::pass>, clear<&Sweep::pass>},
    {"seq", "LIST", "query length, and key length without --seq-k [1k,2k,4k,8k]", integer,
     add_integers<&Sweep::seq, 0>, clear<&Sweep::seq>},
    {"seq-k", "LIST", "key length [= --seq]", integer, add_integers<&Sweep::seq_k, 0>,
     clear<&Sweep::seq_k>},
    {"batch", "LIST", "auto is max(1, 16384/seq) on a GPU, 1 on the CPU [auto]", integer,
     add_integers<&Sweep::batch, 1, true>, clear<&Sweep::batch>},
    {"heads", "LIST", "query heads; auto is 2048/head-dim on a GPU, 1 on the CPU [auto]", integer,
     add_integers<&Sweep::heads, 1, true>, clear<&Sweep::heads>},
    {"kv-heads", "LIST", "key and value heads, a divisor of heads [= heads]", integer,
     add_integers<&Sweep::kv_heads, 1, true>, clear<&Sweep::kv_heads>},
    {"head-dim", "LIST", "elements a head [128]", integer, add_integers<&Sweep::head_dim, 1>,
     clear<&Sweep::head_dim>},
    {"dtype", "LIST", "fp16, bf16, fp32 [fp16; fp32 on the CPU]", word, add_words<&Sweep::dtype>,
     clear<&Sweep::dtype>},
    {"mask", "LIST", "full, causal (bottom-right aligned) [full]", word, add_words<&Sweep::mask>,
     clear<&Sweep::mask>},
    {"scale", "LIST", "any finite number, 0 and negative included [1/sqrt(head-dim)]", number,
     add_scales, clear<&Sweep::scale>},
    {"layout", "LIST", "bshd, bhsd: the order of the dimensions in memory [bshd]", word,
     add_words<&Sweep::layout>, clear<&Sweep::layout>},
    {"init", "LIST", "normal, uniform, outlier, constant, zeros [normal]", word, add_inits,
     clear<&Sweep::init>},
    {"cache", "LIST", "cold, warm: whether the caches are flushed before a sample [cold]", word,
     add_words<&Sweep::cache>, clear<&Sweep::cache>},
};

const std::vector<Setting> setting_table{
    {"warmup", "N", "untimed launches before the first sample; at least one happens", integer,
     [](Options& o, std::string_view text) { o.warmup = parse_integer(text, 0); }},
    {"samples", "N", "the least number of samples a row [10]", integer,
     [](Options& o, std::string_view text) { o.min_samples = parse_integer(text, 1); }},
    {"time-budget", "S", "seconds a row [1]", number,
     [](Options& o, std::string_view text) { o.time_budget_s = parse_positive(text); }},
    {"precision", "P",
     "half width of the median's 95 % interval at which a row is done,\n"
     "relative: 0.5% or 0.005 [0.5%]",
     number,
     [](Options& o, std::string_view text) {
       o.precision = parse_fraction(text);
       if (o.precision == 0) throw UsageError("\"" + std::string(text) + "\" is not above 0");
     }},
    {"iters", "N", "an exact number of samples instead of the three above", integer,
     [](Options& o, std::string_view text) { o.iters = parse_integer(text, 1); }},
    {"seed", "N", "of the inputs [1]", integer,
     [](Options& o, std::string_view text) {
       o.seed = static_cast<std::uint64_t>(parse_integer(text, 0));
     }},
    {"deterministic", "", "ask for backward passes that are bitwise repeatable", flag,
     [](Options& o, std::string_view text) { o.deterministic = text == "true"; }},
    {"no-check", "", "do not compare outputs with the reference", flag,
     [](Options& o, std::string_view text) {
       if (text == "true") o.check = Check::none;
     }},
    {"check-only", "", "compare outputs with the reference, time nothing", flag,
     [](Options& o, std::string_view text) {
       if (text == "true") o.check = Check::only;
     }},
    {"timeout", "S",
     "seconds without a sign of life from a worker, its start included;\nmore for huge passes [60]",
     number, [](Options& o, std::string_view text) { o.timeout_s = parse_positive(text); }},
    {"peak-tflops", "X", "the datasheet peak, where it is unknown or another is meant", number,
     [](Options& o, std::string_view text) { o.peak_tflops = parse_positive(text); }},
    {"threshold", "P", "slower than --baseline by more is exit 5: 5% or 0.05 [5%]", number,
     [](Options& o, std::string_view text) { o.threshold = parse_fraction(text); }},
    {"strict", "", "oom, unsupported and UNSURE rows fail too", flag,
     [](Options& o, std::string_view text) { o.strict = text == "true"; }},
};

constexpr std::string_view exact = "iters is an exact count";
const std::vector<Contradiction> contradiction_table{
    {"iters", "samples", exact},
    {"iters", "time-budget", exact},
    {"iters", "precision", exact},
    {"no-check", "check-only", "nothing would be left to do"},
};

}  // namespace

const std::vector<SweepAxis>& sweep_axes() {
  return axis_table;
}

const std::vector<Setting>& settings() {
  return setting_table;
}

const std::vector<Contradiction>& contradictions() {
  return contradiction_table;
}

}  // namespace flashbench
