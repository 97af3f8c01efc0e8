// Gradients of tensors whose gradients are known. On the CPU every built-in has a backward; on a
// GPU it skips, and says why, where this one refuses every backward.
#include "end_to_end/recipes/recipe.hpp"
#include "end_to_end/recipes/worker.hpp"

namespace flashbench::test {
namespace {

// Of one small problem: how each implementation answers for its backward.
std::vector<std::string> with_backward(std::string& refusals) {
  TestedWorker worker;
  std::vector<std::string> found;
  for (const char* impl : {"naive", "v1", "v2"}) {
    const Reply reply = worker.ask(request::Describe{square(1, 64, 64), impl, Pass::bwd});
    if (reply.status == Status::ok) found.emplace_back(impl);
    if (reply.status == Status::unsupported) refusals += impl + (": " + reply.reason) + "\n";
    EXPECT_TRUE(reply.status == Status::ok || (on_gpu && reply.status == Status::unsupported))
        << impl << ": " << reply.reason;
  }
  return found;
}

class Backward : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    std::string refusals;
    impls = with_backward(refusals);
    if (on_gpu && impls.empty()) GTEST_SKIP() << "no backward here:\n" << refusals;
  }
  Recipe recipe(const Array& q, const Array& k, const Array& v, const Array& d_o,
                Arguments more = {}) const {
    more.insert(more.end(), {"--pass", "fwd+bwd"});
    return {q, k, v, more, impls, d_o};
  }
  std::vector<std::string> impls;
};

void expect_all(const Array& tensor, double value, double allowed, const std::string& what) {
  ASSERT_FALSE(tensor.values.empty());
  for (const double found : tensor.values) ASSERT_NEAR(found, value, allowed) << what;
}

TEST_F(Backward, QueriesThatSeeNoKeyHaveNoGradient) {
  const Recipe causal =
      recipe(tensor(1, 5, 1, 64, noise(1)), tensor(1, 2, 1, 64, noise(2)),
             tensor(1, 2, 1, 64, noise(3)), tensor(1, 5, 1, 64, noise(4)), {"--causal"});
  for (const std::string& dtype : tested_dtypes())
    for (const Result& result : causal.run(dtype)) {
      const Array dq = result.tensor("dq");
      for (const char* name : {"dq", "dk", "dv"})
        for (const double value : result.tensor(name).values)
          ASSERT_TRUE(std::isfinite(value)) << result.impl << " " << name;
      for (std::int64_t s = 0; s < 3; ++s)
        for (std::int64_t x = 0; x < 64; ++x) ASSERT_EQ(dq.at(0, s, 0, x), 0) << result.impl;
    }
}

// A thousand problems of one query and one key, as one batch.
TEST_F(Backward, OfOneQueryAndOneKeyPassesDoOnAndNothingElse) {
  const auto three_times = [](std::uint64_t seed) -> Element {
    return [values = noise(seed)](auto... place) { return 3 * values(place...); };
  };
  for (const std::int64_t head_dim : {64, 128})
    for (const char* mask : {"full", "causal"}) {
      const Recipe thousand = recipe(tensor(1000, 1, 1, head_dim, three_times(1)),
                                     tensor(1000, 1, 1, head_dim, three_times(2)),
                                     tensor(1000, 1, 1, head_dim, three_times(3)),
                                     tensor(1000, 1, 1, head_dim, constant(1)), {"--mask", mask});
      for (const std::string& dtype : tested_dtypes())
        for (const Result& result : thousand.run(dtype)) {
          expect_all(result.tensor("dv"), 1, 0, result.impl + " dv");
          expect_all(result.tensor("dq"), 0, 1e-3, result.impl + " dq");
          expect_all(result.tensor("dk"), 0, 1e-3, result.impl + " dk");
        }
    }
}

TEST_F(Backward, OfManyHeadsIsRightInEach) {
  const std::int64_t length = 2, head_dim = on_gpu ? 64 : 8;
  // About the limits of a GPU's grid; the CPU has none.
  std::vector<std::pair<std::int64_t, std::int64_t>> shapes{{65536, 1}, {1, 65536}};
  if (on_gpu) shapes.insert(shapes.end(), {{65535, 1}, {80000, 1}, {1024, 64}});
  for (const auto& [batch, heads] : shapes) {
    const auto own = [n = heads](auto b, auto, auto h, auto) {
      return static_cast<double>((b * n + h) % 7 + 1);
    };
    const Recipe many = recipe(tensor(batch, length, heads, head_dim, noise(1)),
                               tensor(batch, length, heads, head_dim, constant(0)),
                               tensor(batch, length, heads, head_dim, own),
                               tensor(batch, length, heads, head_dim, constant(1)));
    for (const Result& result : many.run(tested_dtypes().front())) {
      expect_all(result.tensor("dv"), 1, 0, result.impl + " dv");
      expect_all(result.tensor("dq"), 0, 0, result.impl + " dq");
      expect_all(result.tensor("dk"), 0, 1e-3, result.impl + " dk");
    }
  }
}

TEST_F(Backward, TakesTheStatisticsOfAnyForward) {
  TestedWorker worker;
  TestedJudge judge;
  const Folder folder;
  const request::Prepare prepare{square(2, 130, 64, Mask::causal), Pass::fwd_bwd, {{1, ""}}};
  worker.ok<reply::Prepare>(prepare);
  judge.ok<reply::Prepare>(prepare);
  for (const std::string& impl : impls)
    for (const char* forward : {"naive", "v1", "v2"}) {
      request::Output output;
      output.impl = impl;
      output.pass = Pass::bwd;
      output.stats_from = forward;
      output.dir = folder.path();
      worker.ok<reply::Output>(output);
      const request::Judge question{Pass::bwd, 0, folder.path(), impl,
                                    rounds_scores(impl) || rounds_scores(forward)};
      for (const TensorCheck& check : judge.ok<reply::Judge>(question).tensors)
        EXPECT_EQ(check.verdict, Verdict::pass)
            << impl << " from " << forward << ": " << check.reason;
    }
}

// A worker's last output is what its loop left. Deterministic gradients must hash to what was
// judged, atomic ones are judged again.
TEST_F(Backward, DoesNotGrowWithTheIterations) {
  std::string list;
  for (const std::string& impl : impls) list += (list.empty() ? "" : ",") + impl;
  for (const char* iterations : {"1", "100"}) {
    const Outcome run = flashbench_says({"run",
                                         "--device",
                                         tested_device(),
                                         "--dtype",
                                         tested_dtypes().front(),
                                         "--impl",
                                         list,
                                         "--pass",
                                         "bwd",
                                         "--batch",
                                         "1",
                                         "--heads",
                                         "2",
                                         "--seq",
                                         "97",
                                         "--head-dim",
                                         "64",
                                         "--iters",
                                         iterations,
                                         "--json",
                                         "-"});
    const auto report = strict_json(run.out);
    EXPECT_EQ(report.at("rows").size(), impls.size());
    for (const auto& row : report.at("rows")) {
      EXPECT_EQ(row.at("status"), "ok") << row.at("impl") << ": " << row.at("reason");
      EXPECT_EQ(row.at("time_ms").at("n"), std::stoi(iterations));
    }
  }
}

// Atomic sums may make dQ differ from run to run, and then the report says so; dK and dV may not.
TEST_F(Backward, RepeatsDkAndDvBitByBit) {
  for (const char* length : {"97", "1024"})
    for (const char* mask : {"full", "causal"}) {
      const Arguments words{"--batch",    "1",  "--heads", "1",  "--seq",  length,
                            "--head-dim", "64", "--mask",  mask, "--pass", "bwd"};
      const std::string dtype = tested_dtypes().front();
      const Checked first(words, dtype, impls), second(words, dtype, impls);
      ASSERT_EQ(first.results().size(), second.results().size());
      for (std::size_t i = 0; i < first.results().size(); ++i)
        for (const char* name : {"o", "lse", "dk", "dv"})
          EXPECT_EQ(first.results()[i].tensor(name).values, second.results()[i].tensor(name).values)
              << first.results()[i].impl << " " << name;
    }
}

}  // namespace
}  // namespace flashbench::test
