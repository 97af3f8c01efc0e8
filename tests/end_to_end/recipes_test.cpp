// Tensors made by hand whose attention is known in closed form, through --load and --dump of the
// real command. Each is a case that some attention kernel has got wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <random>

#include "support/npy.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

const std::vector<std::string> all_names{"naive", "v1", "v2"};
constexpr double infinity = std::numeric_limits<double>::infinity();

Element constant(double value) {
  return [value](auto...) { return value; };
}

Element random_values(unsigned seed) {
  auto generator = std::make_shared<std::mt19937>(seed);
  return [generator](auto...) { return std::normal_distribution<double>()(*generator); };
}

struct Result {
  std::string impl;
  Array o, lse;  // (b, s, h, d), (b, h, s)
};

struct Recipe {
  Array q, k, v;
  std::string dtype = "fp32";
  Arguments more;
  std::vector<std::string> names = all_names;

  // One result for each implementation that is ok; `unsupported` is an answer, anything else fails
  // the test.
  std::vector<Result> results() const {
    const TemporaryFolder in, out;
    const std::string type = dtype == "fp16" ? "<f2" : "<f4";
    write_npy(in / "q.npy", q, type);
    write_npy(in / "k.npy", k, type);
    write_npy(in / "v.npy", v, type);
    Arguments words{"run",     "--device", "cpu",          "--load", in.path().string(),
                    "--dtype", dtype,      "--check-only", "--dump", out.path().string(),
                    "--json",  "-",        "--impl"};
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ",") + name;
    words.push_back(list);
    words.insert(words.end(), more.begin(), more.end());
    const Outcome run = flashbench_says(words, {}, 240);
    EXPECT_TRUE(run.exit_code == 0 || run.exit_code == 4) << run.exit_code << run.err;
    std::vector<Result> found;
    const auto report = strict_json(run.out);
    for (const auto& row : report.at("rows")) {
      const std::string impl = row.at("impl");
      if (row.at("status") == "unsupported") continue;
      EXPECT_EQ(row.at("status"), "ok") << impl << ": " << row.at("reason");
      if (const auto folder = folder_of(out.path(), impl))
        found.push_back({impl, read_npy(*folder / "o.npy"), read_npy(*folder / "lse.npy")});
      else
        ADD_FAILURE() << "no o.npy for " << impl;
    }
    return found;
  }

 private:
  // The folder that holds o.npy, somewhere under the one named after the row's key.
  static std::optional<std::filesystem::path> folder_of(const std::filesystem::path& root,
                                                        const std::string& impl) {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      const std::string key = entry.path().lexically_relative(root).begin()->string();
      if (entry.path().filename() == "o.npy" && key.starts_with(impl + ","))
        found.push_back(entry.path().parent_path());
    }
    if (found.empty()) return std::nullopt;
    return *std::min_element(found.begin(), found.end());
  }
};

// Every element of row s of batch b and head h.
void expect_row(const Array& o, std::int64_t b, std::int64_t s, std::int64_t h, double value,
                double tolerance, const std::string& impl) {
  for (std::int64_t x = 0; x < o.shape[3]; ++x)
    ASSERT_NEAR(o.at(b, s, h, x), value, tolerance) << impl << " row " << s << " head " << h;
}

void expect_lse(double found, double right, double tolerance, const std::string& what) {
  if (std::isinf(right))
    EXPECT_EQ(found, right) << what;
  else
    EXPECT_NEAR(found, right, tolerance) << what;
}

TEST(Recipes, RowsThatSeeNoKeyAreZeroWithLseMinusInfinity) {
  const Recipe recipe{tensor(1, 5, 1, 64, constant(0)),
                      tensor(1, 2, 1, 64, constant(1)),
                      tensor(1, 2, 1, 64, [](auto, auto s, auto, auto) { return 1.0 + 2 * s; }),
                      "fp32",
                      {"--causal"}};
  const auto results = recipe.results();
  EXPECT_EQ(results.size(), 3u);
  const double rows[] = {0, 0, 0, 1, 2};
  const double lse[] = {-infinity, -infinity, -infinity, 0, std::log(2.0)};
  for (const auto& [impl, o, l] : results)
    for (int s = 0; s < 5; ++s) {
      expect_row(o, 0, s, 0, rows[s], 1e-6, impl);
      expect_lse(l.at(0, 0, s), lse[s], 1e-6, impl);
    }
}

TEST(Recipes, NoKeysAtAllIsZerosOrAUsageErrorAndNeverASignal) {
  const Outcome run = flashbench_says(
      {"run", "--device", "cpu", "--seq", "5", "--seq-k", "0", "--head-dim", "64", "--check-only"});
  EXPECT_EQ(run.signal, 0);
  EXPECT_TRUE(run.exit_code == 0 || run.exit_code == 2 || run.exit_code == 4)
      << run.exit_code << run.err;
  if (run.exit_code == 2) {
    EXPECT_TRUE(contains(run.err, "seq-k")) << run.err;
  }
}

TEST(Recipes, ScoresFarBelowZeroDoNotVanish) {
  const Recipe recipe{tensor(1, 96, 1, 128, constant(45)),
                      tensor(1, 96, 1, 128, constant(-45)),
                      tensor(1, 96, 1, 128, constant(1)),
                      "bf16",
                      {}};
  const auto results = recipe.results();
  EXPECT_EQ(results.size(), 3u);
  for (const auto& [impl, o, lse] : results)
    for (int s = 0; s < 96; ++s) {
      expect_row(o, 0, s, 0, 1, 1e-2, impl);
      expect_lse(lse.at(0, 0, s), -22905.695, impl == "naive" ? 128 : 0.03, impl);
    }
}

TEST(Recipes, OneHugeKeyGivesItsValueBack) {
  const Array huge = tensor(1, 1, 1, 64, constant(133120));
  const auto results = Recipe{huge, huge, huge, "bf16", {}}.results();
  EXPECT_EQ(results.size(), 3u);
  for (const auto& [impl, o, lse] : results) {
    expect_row(o, 0, 0, 0, 133120, 0, impl);
    if (impl != "naive") expect_lse(lse.at(0, 0, 0), 1.4176748e11, 2e5, impl);
  }
}

TEST(Recipes, RawScoresBeyondHalfPrecisionDoNotOverflow) {
  const Array forty = tensor(1, 128, 1, 64, constant(40));
  for (const char* dtype : {"fp16", "bf16"}) {
    const Recipe recipe{
        forty,
        forty,
        tensor(1, 128, 1, 64, [](auto, auto s, auto, auto) { return double(s % 2); }),
        dtype,
        {}};
    const auto results = recipe.results();
    EXPECT_EQ(results.size(), 3u) << "naive must pass too";
    for (const auto& [impl, o, lse] : results)
      for (int s = 0; s < 128; ++s) {
        expect_row(o, 0, s, 0, 0.5, 1e-3, impl);
        expect_lse(lse.at(0, 0, s), 12804.852, impl == "naive" ? 64 : 0.01, impl);
      }
  }
}

TEST(Recipes, AScaleOfZeroIsTheMeanOfTheVisibleKeys) {
  const Recipe recipe{tensor(1, 16, 1, 64, random_values(1)),
                      tensor(1, 16, 1, 64, random_values(2)),
                      tensor(1, 16, 1, 64, [](auto, auto s, auto, auto) { return double(s); }),
                      "fp32",
                      {"--causal", "--scale", "0"}};
  for (const auto& [impl, o, lse] : recipe.results())
    for (int s = 0; s < 16; ++s) {
      expect_row(o, 0, s, 0, s / 2.0, 1e-5, impl);
      expect_lse(lse.at(0, 0, s), std::log(s + 1.0), 1e-5, impl);
    }
}

TEST(Recipes, ANegativeScaleIsTheKeysNegated) {
  Recipe negative{tensor(1, 16, 1, 64, random_values(1)),
                  tensor(1, 16, 1, 64, random_values(2)),
                  tensor(1, 16, 1, 64, [](auto, auto s, auto, auto) { return double(s); }),
                  "fp32",
                  {"--causal", "--scale=-0.125"}};
  const auto found = negative.results();
  Recipe negated = negative;
  for (double& value : negated.k.values) value = -value;
  negated.more = {"--causal", "--scale", "0.125"};
  const auto right = negated.results();
  ASSERT_EQ(found.size(), right.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (std::size_t j = 0; j < found[i].o.values.size(); ++j)
      ASSERT_NEAR(found[i].o.values[j], right[i].o.values[j], 1e-5) << found[i].impl;
    for (std::size_t j = 0; j < found[i].lse.values.size(); ++j)
      ASSERT_NEAR(found[i].lse.values[j], right[i].lse.values[j], 1e-5) << found[i].impl;
  }
}

TEST(Recipes, ANanInOneKeyStaysInItsColumn) {
  Recipe clean{tensor(2, 70, 2, 64, random_values(1)),
               tensor(2, 70, 2, 64, random_values(2)),
               tensor(2, 70, 2, 64, random_values(3)),
               "fp32",
               {"--causal"}};
  Recipe dirty = clean;
  const std::int64_t key = 5, column = 3;
  dirty.v.values[static_cast<std::size_t>(key * 2 * 64 + column)] = std::nan("");
  const auto right = clean.results(), found = dirty.results();
  ASSERT_EQ(found.size(), 3u);
  ASSERT_EQ(right.size(), 3u);
  for (std::size_t i = 0; i < found.size(); ++i)
    for (std::int64_t b = 0; b < 2; ++b)
      for (std::int64_t s = 0; s < 70; ++s)
        for (std::int64_t h = 0; h < 2; ++h)
          for (std::int64_t x = 0; x < 64; ++x) {
            const double value = found[i].o.at(b, s, h, x);
            const bool in_column = b == 0 && h == 0 && x == column;
            if (in_column && s >= key) {
              ASSERT_TRUE(std::isnan(value)) << found[i].impl << " row " << s;
            } else if (!in_column || !std::isnan(value)) {
              ASSERT_EQ(value, right[i].o.at(b, s, h, x)) << found[i].impl << " row " << s;
            }
          }
}

class ManyKeys : public testing::TestWithParam<std::int64_t> {};
TEST_P(ManyKeys, TheLastOfThemCounts) {
  const std::int64_t keys = GetParam(), queries = 4;
  const Array v = tensor(1, keys, 1, 64,
                         [keys](auto, auto s, auto, auto) { return s == keys - 1 ? 1024.0 : 0.0; });
  Recipe recipe{tensor(1, queries, 1, 64, constant(0)),
                tensor(1, keys, 1, 64, constant(1)),
                v,
                "fp32",
                {},
                {"v1", "v2"}};
  const double right = 1024.0 / static_cast<double>(keys);
  for (const auto& [impl, o, lse] : recipe.results())
    for (int s = 0; s < queries; ++s) {
      expect_row(o, 0, s, 0, right, 1e-6, impl);
      expect_lse(lse.at(0, 0, s), std::log(static_cast<double>(keys)), 1e-4, impl);
    }
  recipe.more = {"--causal"};  // only the last query sees the last key
  const auto causal = recipe.results();
  EXPECT_EQ(causal.size(), 2u);
  for (const auto& [impl, o, lse] : causal)
    for (int s = 0; s < queries; ++s)
      expect_row(o, 0, s, 0, s == queries - 1 ? right : 0, 1e-6, impl);
}

TEST_P(ManyKeys, AsManyQueriesAllGetTheirRow) {
  const std::int64_t queries = GetParam();
  const Recipe recipe{tensor(1, queries, 1, 64, constant(0)),
                      tensor(1, 4, 1, 64, constant(1)),
                      tensor(1, 4, 1, 64, [](auto, auto s, auto, auto) { return 4.0 * s; }),
                      "fp32",
                      {},
                      {"v1", "v2"}};
  const auto results = recipe.results();
  EXPECT_EQ(results.size(), 2u);
  for (const auto& [impl, o, lse] : results)
    for (std::int64_t s = 0; s < queries; ++s) expect_row(o, 0, s, 0, 6, 1e-5, impl);
}
INSTANTIATE_TEST_SUITE_P(Recipes, ManyKeys, testing::Values(65535, 65536, 65537));

TEST(Recipes, QueryHeadsShareKvHeadsInOrder) {
  for (const char* dtype : {"fp32", "fp16", "bf16"}) {
    const Recipe recipe{tensor(1, 64, 8, 64, constant(0)),
                        tensor(1, 64, 2, 64, random_values(1)),
                        tensor(1, 64, 2, 64, [](auto, auto, auto h, auto) { return h + 1.0; }),
                        dtype,
                        {}};
    const auto results = recipe.results();
    EXPECT_EQ(results.size(), 3u);
    for (const auto& [impl, o, lse] : results)
      for (int s = 0; s < 64; ++s)
        for (int h = 0; h < 8; ++h) expect_row(o, 0, s, h, h < 4 ? 1 : 2, 1e-3, impl);
  }
}

TEST(Recipes, LseIsTheNaturalLogarithm) {
  const Recipe recipe{tensor(1, 64, 1, 64, constant(0)),
                      tensor(1, 1024, 1, 64, random_values(1)),
                      tensor(1, 1024, 1, 64, random_values(2)),
                      "fp32",
                      {}};
  const auto results = recipe.results();
  EXPECT_EQ(results.size(), 3u);
  for (const auto& [impl, o, lse] : results)
    for (int s = 0; s < 64; ++s) expect_lse(lse.at(0, 0, s), 6.931472, 1e-4, impl);
}

}  // namespace
}  // namespace flashbench::test
