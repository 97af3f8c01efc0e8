// scripts/verify against folders that a worker wrote and folders made by hand: two judges that
// share no code agree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>

#include "kernels/index.hpp"
#include "worker/backend_cpu.hpp"
#include "worker/fakes.hpp"
#include "worker/npy.hpp"
#include "worker/peer.hpp"
#include "worker/serve.hpp"

namespace flashbench {
namespace {

using namespace flashbench::testing;
using ::testing::HasSubstr;

int verify(const std::string& dir) {
  const int status = std::system((FLASHBENCH_SOURCE "/scripts/verify " + dir).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class Verify : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("python3 -c 'import numpy' 2>/dev/null || test -x " FLASHBENCH_SOURCE
                    "/.venv/bin/python") != 0)
      GTEST_SKIP() << "there is no NumPy; scripts/verify would install one";
  }
  const Folder folder_;
};

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Problem small_problem(Dtype dtype) {
  Problem problem;
  problem.heads = 4;
  problem.kv_heads = 2;
  problem.seq_q = 100;
  problem.seq_k = 70;
  problem.head_dim = 16;
  problem.dtype = dtype;
  problem.mask = Mask::causal;
  problem.scale = 0.25;
  problem.layout = Layout::bhsd;
  return problem;
}

void dump(Peer& peer, const Problem& problem, const request::Output& output) {
  peer.ok<reply::Prepare>(request::Prepare{problem, output.pass, {{1, ""}}});
  peer.ok<reply::Output>(output);
}

TEST_F(Verify, AgreesWithTheJudge) {
  Peer peer([](int end) {
    CpuBackend backend;
    return serve(fake_plugin(), {}, backend, end);
  });
  peer.ok<reply::Hello>(request::Hello{"cpu"});
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16})
    dump(peer, small_problem(dtype),
         {"good", Pass::fwd, 0, folder_ / std::string(name(dtype)), "", true});
  EXPECT_EQ(verify(folder_.path()), 0);
  std::vector<float> o(100 * 4 * 16, 0.5f);
  write_npy(folder_ / "fp16/o.npy", {1, 100, 4, 16}, NpyType::f4, o.data());
  EXPECT_EQ(verify(folder_.path()), 1);
  EXPECT_EQ(verify("/nowhere"), 2);
}

TEST_F(Verify, AllowsWhatRoundingsOfLargeScoresMove) {
  Peer peer([](int end) {
    CpuBackend backend;
    return serve(kernels::builtin(), {}, backend, end);
  });
  peer.ok<reply::Hello>(request::Hello{"cpu"});
  Problem problem;
  problem.batch = 3;
  problem.heads = problem.kv_heads = 5;
  problem.seq_q = 129;
  problem.seq_k = 257;
  problem.head_dim = 112;
  problem.dtype = Dtype::fp32;
  problem.scale = 20;
  peer.ok<reply::Prepare>(request::Prepare{problem, Pass::fwd, {{5, ""}}});
  peer.ok<reply::Output>(request::Output{"naive", Pass::fwd, 0, folder_ / "naive", "", true});
  EXPECT_EQ(verify(folder_.path()), 0);
}

TEST_F(Verify, FailsAFolderThatIsNotWholeAndGoesOn) {
  Peer peer([](int end) {
    CpuBackend backend;
    return serve(fake_plugin(), {}, backend, end);
  });
  peer.ok<reply::Hello>(request::Hello{"cpu"});
  for (const char* row : {"1", "2"})
    dump(peer, small_problem(Dtype::fp32), {"good", Pass::fwd, 0, folder_ / row, "", true});
  const auto ok_lines = [&] {
    std::filesystem::remove(folder_ / "said");
    verify(folder_.path() + " >" + (folder_ / "said"));
    const std::string said = text_of(folder_ / "said");
    return std::pair(said.find("FAIL  1") != said.npos, said.find("ok    2") != said.npos);
  };
  const auto failed_and_went_on = std::pair(true, true);
  std::ofstream(folder_ / "1/o.npy").flush();  // empty
  EXPECT_EQ(ok_lines(), failed_and_went_on);
  std::filesystem::remove(folder_ / "1/q.npy");
  EXPECT_EQ(ok_lines(), failed_and_went_on);
  std::ofstream(folder_ / "1/case.json") << "null";
  EXPECT_EQ(ok_lines(), failed_and_went_on);
}

TEST_F(Verify, HoldsNaiveToItsScoresInMemoryAndNotToItsName) {
  Peer peer([](int end) {
    CpuBackend backend;
    return serve(kernels::builtin(), {}, backend, end);
  });
  peer.ok<reply::Hello>(request::Hello{"cpu"});
  dump(peer, small_problem(Dtype::bf16), {"naive", Pass::fwd_bwd, 0, folder_ / "naive", "", true});
  EXPECT_THAT(text_of(folder_ / "naive/case.json"), HasSubstr("\"rounded_scores\": false"));
  EXPECT_EQ(verify(folder_.path()), 0);
  NpyArray saved = read_npy(folder_ / "naive/lse.npy");
  std::vector<float> lse(static_cast<std::size_t>(saved.elements()));
  saved.read(0, saved.elements(), lse.data());
  lse.back() += 1e-3f;  // less than a unit of bf16, more than scores in fp32 excuse
  write_npy(folder_ / "naive/lse.npy", saved.shape, NpyType::f4, lse.data());
  EXPECT_EQ(verify(folder_.path()), 1);
}

// Tensors by the names of their files, each (1, sequence, heads, head_dim) or, lse, (1, heads, Sq).
using Tensors = std::map<std::string, std::vector<float>>;

void write(const std::string& dir, const Problem& problem, const Tensors& tensors,
           bool rounded_scores) {
  std::filesystem::create_directories(dir);
  for (const auto& [file, elements] : tensors) {
    const bool keys = file.ends_with('k') || file.ends_with('v');
    std::vector<std::int64_t> shape{1, keys ? problem.seq_k : problem.seq_q, problem.heads,
                                    problem.head_dim};
    if (file == "lse") shape = {1, problem.heads, problem.seq_q};
    write_npy(dir + "/" + file + ".npy", shape, NpyType::f4, elements.data());
  }
  request::Output output;
  output.impl = "made-by-hand";
  std::ofstream(dir + "/case.json") << case_text(output, problem, rounded_scores);
}

std::vector<float> random_rows(Dtype dtype, std::int64_t rows, std::int64_t d, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> elements(static_cast<std::size_t>(rows * d));
  for (float& x : elements)
    x = rounded(dtype, (static_cast<float>(random() >> 8) * 0x1p-24f - 0.5f) * 4);
  return elements;
}

Tensors random_inputs(const Problem& problem) {
  const std::int64_t d = problem.head_dim;
  return {{"q", random_rows(problem.dtype, problem.seq_q * problem.heads, d, 1)},
          {"k", random_rows(problem.dtype, problem.seq_k * problem.heads, d, 2)},
          {"v", random_rows(problem.dtype, problem.seq_k * problem.heads, d, 3)}};
}

// O as a kernel makes it that keeps P relative to the largest score and divides at the end; S goes
// through the dtype if `rounded_scores`. It sees the keys from `first_key` on. heads = kv_heads.
void attend(const Problem& problem, Tensors& tensors, bool rounded_scores, int first_key = 0) {
  const auto d = static_cast<std::size_t>(problem.head_dim);
  const auto heads = static_cast<std::size_t>(problem.heads);
  const auto keys = static_cast<std::size_t>(problem.seq_k);
  const std::vector<float>&q = tensors["q"], &k = tensors["k"], &v = tensors["v"];
  std::vector<float> o(q.size());
  for (std::size_t row = 0; row < q.size() / d; ++row) {
    const auto first = static_cast<std::size_t>(first_key);
    std::vector<float> s(keys), sums(d);
    for (std::size_t j = first; j < keys; ++j) {
      const std::size_t at = (j * heads + row % heads) * d;
      for (std::size_t x = 0; x < d; ++x) s[j] += q[row * d + x] * k[at + x];
      s[j] *= static_cast<float>(problem.scale);
      if (rounded_scores) s[j] = rounded(problem.dtype, s[j]);
    }
    const float m = *std::max_element(s.begin() + first_key, s.end());
    float l = 0;
    for (std::size_t j = first; j < keys; ++j) {
      const float weight = std::exp(s[j] - m), p = rounded(problem.dtype, weight);
      l += weight;
      for (std::size_t x = 0; x < d; ++x) sums[x] += p * v[(j * heads + row % heads) * d + x];
    }
    for (std::size_t x = 0; x < d; ++x) o[row * d + x] = rounded(problem.dtype, sums[x] / l);
  }
  tensors["o"] = o;
}

Problem problem_of(Dtype dtype, std::int64_t heads, std::int64_t seq_q, std::int64_t seq_k) {
  Problem problem;
  problem.heads = problem.kv_heads = heads;
  problem.seq_q = seq_q;
  problem.seq_k = seq_k;
  problem.head_dim = 32;
  problem.dtype = dtype;
  problem.scale = 0.25;
  return problem;
}

TEST_F(Verify, ExcusesRoundedScoresWhereTheCaseSaysSo) {
  for (const Dtype dtype : {Dtype::fp16, Dtype::bf16}) {
    Problem problem = problem_of(dtype, 4, 65, 300);
    problem.scale = 0.75;  // large scores, for which 16 bit are few
    Tensors tensors = random_inputs(problem);
    attend(problem, tensors, true);
    write(folder_ / "case", problem, tensors, true);
    EXPECT_EQ(verify(folder_.path()), 0);
    write(folder_ / "case", problem, tensors, false);
    EXPECT_EQ(verify(folder_.path()), 1);
    attend(problem, tensors, true, 64);  // a lost tile is no rounding
    write(folder_ / "case", problem, tensors, true);
    EXPECT_EQ(verify(folder_.path()), 1);
  }
}

// Two products of 1, which cancel but for a unit of fp32: what remains of them is the top score.
TEST_F(Verify, ExcusesTheRoundingsOfScoresThatCancel) {
  Problem problem = problem_of(Dtype::fp32, 1, 1, 1);
  problem.scale = 1e6;
  std::vector<float> q(32, 0), k(32, 0);
  q[0] = q[1] = k[0] = 1;
  k[1] = -1 + 0x1p-24f;
  Tensors tensors{{"q", q}, {"k", k}, {"v", k}, {"o", k}};
  const auto right = static_cast<float>(1e6 * 0x1p-24), unit = static_cast<float>(1e6 * 0x1p-23);
  for (const auto& [units, expected] : std::map<float, int>{{0, 0}, {1, 0}, {3, 1}}) {
    tensors["lse"] = {right + units * unit};
    write(folder_ / "case", problem, tensors, false);
    EXPECT_EQ(verify(folder_.path()), expected) << units;
  }
}

// P is 1/2, which the dtype holds: the comparator's own draw errs nowhere, another does.
TEST_F(Verify, DrawsTheComparatorMoreThanOnce) {
  const Problem problem = problem_of(Dtype::bf16, 1, 1, 2);
  Tensors tensors{{"q", std::vector<float>(32, 0)},
                  {"k", std::vector<float>(64, 0)},
                  {"v", std::vector<float>(64, 1)}};
  for (const auto& [o, expected] : std::map<float, int>{{1, 0}, {1 - 0x1p-8f, 0}, {0.9f, 1}}) {
    tensors["o"] = std::vector<float>(32, o);
    write(folder_ / "case", problem, tensors, false);
    EXPECT_EQ(verify(folder_.path()), expected) << o;
  }
}

// P is 1/2 and every gradient exact, so the comparator errs nowhere; a kernel that divides late
// may.
TEST_F(Verify, CountsHalfAUnitOnTheLargestTermOfAGradient) {
  const Problem problem = problem_of(Dtype::bf16, 1, 1, 2);
  const std::vector<float> zeros(64, 0), ones(64, 1), row(32, 1), nothing(32, 0);
  Tensors tensors{{"q", nothing}, {"k", zeros},  {"v", ones},    {"o", row},
                  {"do", row},    {"dk", zeros}, {"dq", nothing}};
  const float half_unit = 0x1p-9f;  // of dV's terms, which are 1/2
  for (const auto& [units, expected] : std::map<float, int>{{0, 0}, {2, 0}, {4, 1}}) {
    tensors["dv"] = std::vector<float>(64, 0.5f + units * half_unit);
    write(folder_ / "case", problem, tensors, false);
    EXPECT_EQ(verify(folder_.path()), expected) << units;
  }
}

TEST_F(Verify, TakesAnInfinityWhereTheBoundReachesBeyondWhatTheDtypeHolds) {
  Problem problem = problem_of(Dtype::fp16, 1, 1, 2);
  std::vector<float> keys(64, 0);
  std::fill(keys.begin(), keys.begin() + 32, 1.0f);  // P of a large scale lies on the first
  const std::vector<float> zeros(64, 0), ones(64, 1), row(32, 1);
  for (const auto& [scale, dq, expected] :
       {std::tuple{1e30, INFINITY, 0}, {1e30, -INFINITY, 0}, {1e30, NAN, 1}, {1e3, INFINITY, 1}}) {
    problem.scale = scale;
    write(folder_ / "case", problem,
          {{"q", row},
           {"k", keys},
           {"v", ones},
           {"o", row},
           {"do", row},
           {"dk", zeros},
           {"dq", std::vector<float>(32, dq)},
           {"dv", keys}},
          false);
    EXPECT_EQ(verify(folder_.path()), expected) << scale << " " << dq;
  }
}

}  // namespace
}  // namespace flashbench
