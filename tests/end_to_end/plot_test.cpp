// scripts/plot on the golden report and on what is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

const std::string golden = FLASHBENCH_SOURCE "/tests/corpus/report.json";

Outcome plot(const Arguments& words) {
  return Program(FLASHBENCH_SOURCE "/scripts/plot", words).wait(140);
}

class Pictures : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("{ python3 -c 'import matplotlib' || " FLASHBENCH_SOURCE
                    "/build/plot-env/bin/python -c 'import matplotlib'; } 2>/dev/null") != 0)
      GTEST_SKIP() << "there is no matplotlib; scripts/plot would install one";
  }
  TemporaryFolder out;
};

TEST_F(Pictures, OfTheGoldenReportAreWholeAndLabelled) {
  const Outcome drawn = plot({golden, "--out", out / "new/folder"});
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_THAT(drawn.err, HasSubstr("ladder: left out: no problem has two rows of ladder/..."));
  EXPECT_EQ(lines_of(drawn.out).size(), 8u) << drawn.out;
  for (const std::string& file : lines_of(drawn.out)) EXPECT_GT(fs::file_size(file), 5000u) << file;
  for (const auto& [name, labels] : std::vector<std::pair<const char*, std::vector<const char*>>>{
           {"throughput", {">TFLOPS<", ">220<", ">25.0<", ">53.6<", ">failed<"}},
           {"utilisation",
            {">% of the datasheet peak<", ">% of the binding ceiling<", ">v2 (mma)<"}},
           {"memory", {">extra memory (MiB, log)<"}},
           {"traffic", {">GB moved (10⁹ bytes, log)<", ">formula, by the kernels' own model<"}}}) {
    const std::string file = out / ("new/folder/" + std::string(name) + "-fwd-fp16");
    EXPECT_THAT(read_file(file + ".png").substr(0, 4), "\x89PNG");
    const std::string svg = read_file(file + ".svg");
    for (const char* label : labels) EXPECT_THAT(svg, HasSubstr(label)) << name;
    for (const char* label :
         {">head dim 128, causal<", ">sequence length (tokens)<", ">naive", ">v1", ">v2",
          "NVIDIA A100-SXM4-80GB", "driver 550.54", "flashbench 429ccbf"})
      EXPECT_THAT(svg, HasSubstr(label)) << name;
  }
}

TEST_F(Pictures, OfALaterReportShowItsRowsAndItsLadder) {
  auto report = nlohmann::json::parse(read_file(golden));
  auto rows = nlohmann::json::array();
  for (const auto& [name, tflops] : std::vector<std::pair<const char*, double>>{
           {"v1", 50}, {"q-outer", 120}, {"causal-skip", 111}}) {
    auto row = report.at("rows")[0];
    row["impl"] = std::string("ladder/") + name;
    row["key"] = std::string("ladder/") + name;
    row["tflops"] = tflops;
    rows.push_back(row);
  }
  auto v2 = report.at("rows")[2];
  v2["tflops"] = 231.0;
  rows.push_back(v2);
  auto backward = rows;  // of the same names, in a picture of their own
  for (auto& row : backward) {
    row["pass"] = "bwd";
    row["key"] = row["key"].get<std::string>() + "/bwd";
  }
  rows.insert(rows.end(), backward.begin(), backward.end());
  report["rows"] = rows;
  const Outcome drawn =
      plot({golden, out.write("later.json", report.dump()), "--out", out.path().string()});
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_EQ(drawn.err, "");
  const std::string svg = read_file(out / "ladder-fwd-fp16.svg");
  for (const char* label : {">start:<", ">q outer<", ">+70.0<", ">×2.40<", ">−9.00<", ">×0.93<",
                            ">50.0<", ">111<", ">TFLOPS<", ">v2 at its<"})
    EXPECT_THAT(svg, HasSubstr(label));
  EXPECT_THAT(read_file(out / "throughput-fwd-fp16.svg"),
              AllOf(HasSubstr(">231<"), Not(HasSubstr(">220<")), Not(HasSubstr("ladder"))));
  EXPECT_THAT(read_file(out / "ladder-bwd-fp16.svg"),
              AllOf(HasSubstr(">v2 itself<"), Not(HasSubstr("own tile"))));
}

TEST_F(Pictures, NameTheProviderOnlyOfWhatSeveralProvide) {
  auto report = nlohmann::json::parse(read_file(golden));
  auto peer = report.at("rows")[2];
  peer["impl"] = "pytorch-flash";
  peer["source"] = "plugin:pytorch.py";
  peer["key"] = "pytorch-flash";
  auto twin = report.at("rows")[2];
  twin["source"] = "plugin:twin.so";
  twin["key"] = "twin";
  report["rows"].push_back(peer);
  report["rows"].push_back(twin);
  const Outcome drawn =
      plot({out.write("peers.json", report.dump()), "--out", out.path().string()});
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_THAT(
      read_file(out / "throughput-fwd-fp16.svg"),
      AllOf(HasSubstr(">pytorch-flash<"), HasSubstr(">v2<"), HasSubstr(">v2 (plugin:twin.so)<")));
}

TEST_F(Pictures, SayOnceOfALengthThatNothingWasRunAtIt) {
  auto report = nlohmann::json::parse(read_file(golden));
  for (auto row : std::vector<nlohmann::json>(report.at("rows"))) {
    if (row["problem"]["seq_q"] != 2048) continue;
    row["problem"]["seq_q"] = row["problem"]["seq_k"] = 32768;
    row["key"] = row["key"].get<std::string>() + "/longer";
    row["status"] = "not_run";
    report["rows"].push_back(row);
  }
  const Outcome drawn = plot({out.write("cut.json", report.dump()), "--out", out.path().string()});
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  const std::string svg = read_file(out / "throughput-fwd-fp16.svg");
  const size_t first = svg.find(">not run<");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(svg.find(">not run<", first + 1), std::string::npos);
}

nlohmann::json golden_report() {
  return nlohmann::json::parse(read_file(golden));
}

// Of the golden report's v2 at 1k, at another length, with other batch and heads.
nlohmann::json v2_of(int seq, int batch, int heads) {
  auto row = golden_report().at("rows")[2];
  row["problem"]["seq_q"] = row["problem"]["seq_k"] = seq;
  row["problem"]["batch"] = batch;
  row["problem"]["heads"] = row["problem"]["kv_heads"] = heads;
  row["key"] = std::to_string(seq) + "/" + std::to_string(batch) + "/" + std::to_string(heads);
  return row;
}

int count_of(const std::string& word, const std::string& text) {
  int found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST_F(Pictures, JoinNoRowsOfOtherBatchAndHeadsUnlessTheTokensStayTheSame) {
  auto report = golden_report();
  report["rows"] = {v2_of(4096, 1, 16), v2_of(65536, 1, 16), v2_of(131072, 1, 1),
                    v2_of(1048576, 1, 1)};
  ASSERT_EQ(plot({out.write("heads.json", report.dump()), "--out", out / "heads"}).exit_code, 0);
  report["rows"] = {v2_of(4096, 4, 16), v2_of(8192, 2, 16), v2_of(16384, 1, 16)};
  ASSERT_EQ(plot({out.write("tokens.json", report.dump()), "--out", out / "tokens"}).exit_code, 0);
  for (const char* name : {"throughput", "utilisation", "memory", "traffic"}) {
    const std::string file = std::string(name) + "-fwd-fp16.svg";
    const std::string heads = read_file(out / ("heads/" + file));
    const int columns = std::string(name) == "utilisation" ? 2 : 1;
    EXPECT_EQ(count_of(">batch 1, 16 heads<", heads), columns) << name;
    EXPECT_EQ(count_of(">batch 1, 1 head<", heads), columns) << name;
    EXPECT_EQ(count_of(">sequence length (tokens)<", heads), 2 * columns) << name;
    EXPECT_THAT(heads, HasSubstr(">1M<")) << name;
    const std::string tokens = read_file(out / ("tokens/" + file));
    EXPECT_EQ(count_of(">sequence length (tokens)<", tokens), columns) << name;
    EXPECT_THAT(tokens,
                AllOf(HasSubstr("batch × sequence = 16384 tokens"), Not(HasSubstr("heads"))))
        << name;
  }
}

TEST_F(Pictures, ShowHollowWhatARowOutOfMemoryWouldHaveNeeded) {
  auto report = golden_report();
  const char* const hollow = "fill: #ffffff; stroke: #6e6e6e";  // in the edge's colour of naive
  const char* const legend = ">not measured: what it would need<";
  report["rows"] = {report["rows"][0], report["rows"][4]};
  ASSERT_EQ(plot({out.write("ran.json", report.dump()), "--out", out / "ran"}).exit_code, 0);
  EXPECT_THAT(read_file(out / "ran/memory-fwd-fp16.svg"),
              AllOf(HasSubstr(">naive<"), Not(HasSubstr(hollow)), Not(HasSubstr(legend))));
  report["rows"][1]["status"] = "oom";
  ASSERT_EQ(plot({out.write("oom.json", report.dump()), "--out", out / "oom"}).exit_code, 0);
  const std::string svg = read_file(out / "oom/memory-fwd-fp16.svg");
  EXPECT_EQ(count_of(hollow, svg), 1);
  EXPECT_THAT(svg, AllOf(HasSubstr(">naive: out of memory<"), HasSubstr(legend),
                         HasSubstr(">extra memory (MiB, log)<")));
}

TEST_F(Pictures, TickNoFigureTwiceWhereValuesLieClose) {
  auto report = golden_report();
  auto twin = report["rows"][1];
  twin["impl"] = twin["key"] = "twin";
  twin["memory"]["workspace_bytes"] = 1.1 * twin["memory"]["workspace_bytes"].get<double>();
  report["rows"] = {report["rows"][1], twin};
  for (auto& row : report["rows"]) row["memory"]["saved_bytes"] = 0;
  ASSERT_EQ(plot({out.write("close.json", report.dump()), "--out", out.path().string()}).exit_code,
            0);
  const std::string svg = read_file(out / "memory-fwd-fp16.svg");
  for (const char* tick : {">50<", ">100<", ">200<"}) EXPECT_EQ(count_of(tick, svg), 1) << tick;
  EXPECT_THAT(svg, Not(HasSubstr(">130<")));
}

// Declares what the bundled peers do.
nlohmann::json peer_of(nlohmann::json row) {
  row["impl"] = row["key"] = "pytorch-flash";
  row["source"] = "plugin:pytorch.py";
  const double tensor = 16.0 * 16 * 1024 * 128 * 2;
  row["cost"]["kernels"][0]["traffic"] = {{"read", {{"q", tensor}, {"k", tensor}, {"v", tensor}}},
                                          {"written", {{"o", tensor}}}};
  return row;
}

TEST_F(Pictures, LeaveOutTheTrafficOfPluginsThatDeclareEachTensorOnce) {
  const char* const reason = "formula left out (each tensor once: tiles unknown): pytorch-flash";
  auto report = golden_report();
  auto twin = report["rows"][2];  // a plugin that knows its tiles
  twin["source"] = "plugin:twin.so";
  twin["impl"] = twin["key"] = "twin";
  const auto peer = peer_of(report["rows"][2]);
  report["rows"].push_back(twin);
  report["rows"].push_back(peer);
  ASSERT_EQ(plot({out.write("peer.json", report.dump()), "--out", out.path().string()}).exit_code,
            0);
  EXPECT_THAT(read_file(out / "traffic-fwd-fp16.svg"),
              AllOf(HasSubstr(reason), HasSubstr(">twin<"), HasSubstr(">v2<"),
                    Not(HasSubstr(">pytorch-flash<"))));
  EXPECT_THAT(read_file(out / "throughput-fwd-fp16.svg"), HasSubstr(">pytorch-flash<"));
  report["rows"] = nlohmann::json::array({peer});
  const Outcome alone =
      plot({out.write("alone.json", report.dump()), "--out", out.path().string()});
  EXPECT_THAT(alone.err, HasSubstr("traffic: left out: no row says what bytes its tiles move"));
}

TEST_F(Pictures, ShowHardwareCountersHollowBesideTheFormula) {
  const auto counted = [](nlohmann::json row, double l2, double dram) {
    row["traffic"]["measured"] = {{"l1tex__m_xbar2l1tex_read_bytes.sum", l2 - 1e6},
                                  {"l1tex__m_l1tex2xbar_write_bytes.sum", 1e6},
                                  {"dram__bytes_read.sum", dram - 1e6},
                                  {"dram__bytes_write.sum", 1e6}};
    return row;
  };
  auto report = golden_report();
  const auto& rows = report["rows"];
  const double v2_formula = 2.0 * 67108864 + 2.0 * 301989888 + 1048576;
  report["rows"] = {counted(rows[0], 4e9, 2e9), counted(rows[2], v2_formula, 0.3e9),
                    counted(peer_of(rows[2]), 1e9, 0.3e9)};
  ASSERT_EQ(
      plot({out.write("counted.json", report.dump()), "--out", out.path().string()}).exit_code, 0);
  std::string svg = read_file(out / "traffic-fwd-fp16.svg");
  for (const char* label :
       {">naive<", ">naive, L2 to SM<", ">v2<", ">v2, DRAM<", ">pytorch-flash, L2 to SM<",
        ">hardware: between L2 and SMs<", ">hardware: DRAM, where that differs<"})
    EXPECT_THAT(svg, HasSubstr(label));
  report["rows"].erase(2);
  report["rows"].erase(0);  // v2 is left: a ring around the formula's point, and no name of its own
  ASSERT_EQ(plot({out.write("v2.json", report.dump()), "--out", out.path().string()}).exit_code, 0);
  svg = read_file(out / "traffic-fwd-fp16.svg");
  EXPECT_EQ(count_of("fill-opacity: 0; stroke: #005280", svg), 2) << "L2 to SM, and DRAM";
  EXPECT_THAT(svg, AllOf(HasSubstr(">hardware: between L2 and SMs<"), HasSubstr(">v2<"),
                         Not(HasSubstr(">v2, L2 to SM<"))));
}

TEST(Plot, RefusesWhatIsNoReportByItsNameWithExitTwo) {
  const TemporaryFolder out;
  for (const auto& [file, reason] : std::vector<std::pair<std::string, const char*>>{
           {out / "none.json", "No such file"},
           {out.write("broken.json", "{\"rows\":["), "it is not JSON"},
           {out.write("list.json", "[]"), "is no report"},
           {out.write("other.json", R"({"schema":"other/2","rows":[]})"), "flashbench.report/1"}}) {
    const Outcome drawn = plot({golden, file, "--out", out / "pictures"});
    EXPECT_EQ(drawn.exit_code, 2) << file;
    EXPECT_EQ(drawn.out, "");
    EXPECT_EQ(lines_of(drawn.err).size(), 1u) << drawn.err;
    EXPECT_THAT(drawn.err, AllOf(HasSubstr(file), HasSubstr(reason)));
    EXPECT_FALSE(fs::exists(out / "pictures"));
  }
}

TEST(Plot, RefusesAFolderThatCannotBeMade) {
  const TemporaryFolder out;
  const std::string file = out.write("file", "");
  const Outcome drawn = plot({golden, "--out", file});
  EXPECT_EQ(drawn.exit_code, 2);
  EXPECT_THAT(drawn.err, HasSubstr("cannot make " + file));
}

TEST(Plot, WrongWordsAreExitTwo) {
  EXPECT_EQ(plot({}).exit_code, 2);
  EXPECT_EQ(plot({golden, "--uot", "x"}).exit_code, 2);
}

}  // namespace
}  // namespace flashbench::test
