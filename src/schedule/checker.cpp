#include <fmt/format.h>

#include <filesystem>

#include "record/write_error.hpp"
#include "roster/description.hpp"
#include "schedule/group.hpp"

namespace flashbench {

namespace {

namespace fs = std::filesystem;

// Where an output goes: the user's folder for --dump, else a scratch folder that is removed again.
class OutputFolder {
 public:
  OutputFolder(const Bench& bench, const RowRun& run, int set)
      : keep_(set == 0 && !bench.options.dump_dir.empty()),
        path_(keep_ ? fs::absolute(bench.options.dump_dir) / folder_name(run.what())
                    : bench.scratch.path() / "output") {
    std::error_code error;  // the worker names the cause when it cannot write there
    fs::create_directories(path_, error);
  }
  ~OutputFolder() {
    std::error_code error;
    if (!keep_) fs::remove_all(path_, error);
  }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  bool keep() const { return keep_; }
  std::string path() const { return path_.string(); }

 private:
  bool keep_;
  fs::path path_;
};

// Why this output disqualifies the row before anyone judges it; empty: it does not.
std::string objection(const RowRun& run, const reply::Output& output) {
  if (output.counts)
    if (std::string absurd = absurdity_of(*output.counts); !absurd.empty()) return absurd;
  if (!output.guards_intact)
    return output.guard_reason.empty() ? "it wrote outside its tensors" : output.guard_reason;
  if (output.repeats_equal.value_or(true)) return {};
  if (run.what().pass == Pass::fwd) return "two forward runs on the same inputs differ";
  if (run.what().problem.deterministic) return "two runs differ, though --deterministic was given";
  return {};
}

struct CheckInputs {
  const request::Prepare& inputs;
  const std::vector<std::string>& checksums;
  bool alone;
};

bool judge_set(Bench& bench, RowRun& run, int set, const std::string& folder,
               const CheckInputs& check) {
  const Case& what = run.what();
  const bool rounded = run.row.cost && keeps_rounded_scores(what.problem, *run.row.cost);
  const request::Judge question{what.pass, set, folder, what.impl, rounded};
  const Judgement judgement = bench.judge.judge(check.inputs, check.checksums, question,
                                                bench.pace.listener("judging " + short_name(what)));
  if (judgement.status != Status::ok) {
    run.row.memory.needed_bytes = judgement.needed_bytes;
    bench.finish(run, judgement.status, judgement.reason);
    return false;
  }
  add_checks(run.row.numerics, judgement.tensors);
  if (const std::string reason = failed_check(run.row.numerics); !reason.empty()) {
    bench.finish(run, Status::failed, reason);
    return false;
  }
  return true;
}

bool check_set(Bench& bench, RowRun& run, int set, const CheckInputs& check) {
  const Case& what = run.what();
  const OutputFolder folder(bench, run, set);
  const std::string doing = "checking " + short_name(what);
  bench.pace.say(doing);
  const Reply reply = bench.ask_to_run(
      run, request::Output{what.impl, what.pass, set, folder.path(), "", folder.keep()},
      bench.pace.listener(doing));
  if (reply.unwritten)  // nor would any other row's be
    throw WriteError(fmt::format("{}; {} chooses another folder", reply.reason,
                                 folder.keep() ? "--dump" : "TMPDIR"));
  if (reply.status != Status::ok) {
    settle(bench, run, reply, check.alone);
    return false;
  }
  const auto& output = body_of<reply::Output>(reply);
  if (const std::string reason = objection(run, output); !reason.empty()) {
    bench.finish(run, Status::failed, reason);
    return false;
  }
  take_output(run.row, output);
  run.hashes[static_cast<std::size_t>(set)] = output.hash;
  run.repeats_equal = run.repeats_equal && output.repeats_equal.value_or(true);
  return bench.options.check == Check::none || judge_set(bench, run, set, folder.path(), check);
}

bool check_sets(Bench& bench, RowRun& run, const CheckInputs& check) {
  // Without a judge one output is still written: it tells launches, memory and the hash.
  const int sets = bench.options.check == Check::none ? 1 : input_sets;
  run.row.numerics.clear();
  for (int set = 0; set < sets; ++set)
    if (!check_set(bench, run, set, check)) return false;
  return true;
}

}  // namespace

void describe_row(Bench& bench, RowRun& run, bool alone) {
  if (run.row.cost) return;
  const Case& what = run.what();
  const Reply reply = bench.worker(run).ask(request::Describe{what.problem, what.impl, what.pass});
  if (reply.status != Status::ok) return settle(bench, run, reply, alone);
  const auto& description = body_of<reply::Describe>(reply);
  const Objection objection = objection_to(description);
  if (objection.status != Status::failed) take_description(run.row, description);
  if (objection.status == Status::ok) return;
  run.row.memory.needed_bytes = objection.needed_bytes;
  bench.finish(run, objection.status, objection.reason);
}

void check_row(Bench& bench, RowRun& run, const request::Prepare& inputs,
               const std::vector<std::string>& checksums, bool alone) {
  if (run.judged) return;
  run.judged = check_sets(bench, run, {inputs, checksums, alone});
}

void check_again(Bench& bench, RowRun& run, const request::Prepare& inputs,
                 const std::vector<std::string>& checksums, bool alone) {
  if (bench.options.check == Check::none || run.repeats_equal) return;
  const std::vector<TensorCheck> before = run.row.numerics;
  if (check_sets(bench, run, {inputs, checksums, alone})) add_checks(run.row.numerics, before);
}

}  // namespace flashbench
