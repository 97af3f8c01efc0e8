// --plugin: a shared library and a Python file in the same rounds as the built-in implementations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>

#include "flashbench/attention.h"
#include "record/messages.hpp"
#include "support/places.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"
#include "support/text.hpp"

namespace flashbench::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string c_plugin = in_bin("flashbench-example.so");
const std::string python_plugin = FLASHBENCH_SOURCE "/plugins/example/attention.py";
const Arguments tiny{"--device", "cpu", "--seq", "48", "--head-dim", "16", "--time-budget", "0.1"};

Arguments with(Arguments words, const Arguments& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Two kv heads, more keys than queries, the other layout.
const Arguments awkward{"--batch", "2",  "--heads", "4",           "--kv-heads", "2",
                        "--seq-k", "70", "--mask",  "full,causal", "--layout",   "bhsd"};

void expect_ok(const nlohmann::json& report, const std::string& impl, const std::string& source) {
  int rows = 0;
  for (const auto& row : report.at("rows")) {
    if (row.at("impl") != impl) continue;
    ++rows;
    EXPECT_EQ(row.at("status"), "ok") << row.at("reason");
    EXPECT_THAT(row.at("key").get<std::string>(), testing::EndsWith(source));
    EXPECT_GT(row.at("time_ms").at("median"), 0);
    EXPECT_EQ(row.at("numerics").at("o").at("verdict"), "pass");
    EXPECT_EQ(row.at("numerics").at("lse").at("verdict"), "pass");
    EXPECT_EQ(row.at("shared_rounds_with").size(), 2U);
    EXPECT_GT(row.at("speedup").at("value"), 0);
  }
  EXPECT_EQ(rows, 2) << impl;
}

TEST(Plugins, InCAndInPythonAreCheckedAndTimedInTheSameRounds) {
  const Outcome run =
      flashbench_says(with(with(tiny, awkward), {"--plugin", c_plugin, "--plugin", python_plugin,
                                                 "--impl", "v2,example-*", "--json", "-"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto report = strict_json(run.out);
  expect_ok(report, "v2", "built-in");
  expect_ok(report, "example-c", "plugin:flashbench-example.so");
  expect_ok(report, "example-python", "plugin:attention.py");
}

// As a distribution installs it: libraries without the permission to execute, programs in libexec.
TEST(Plugins, WorkWhereTheyAreInstalled) {
  namespace fs = std::filesystem;
  const TemporaryFolder prefix;
  const fs::path libexec = prefix.path() / "libexec" / "flashbench";
  fs::create_directories(libexec);
  fs::create_directories(prefix.path() / "bin");
  fs::copy(flashbench_program, prefix.path() / "bin");
  for (const char* program : {"flashbench-worker-cpu", "flashbench-worker-plugin",
                              "flashbench-judge", "libflashbench-worker-cpu.so"})
    fs::copy(fs::path(bin_folder) / program, libexec);
  fs::permissions(libexec / "libflashbench-worker-cpu.so", fs::perms::owner_read);
  const Outcome run =
      Program(prefix / "bin/flashbench",
              with(tiny, {"--plugin", c_plugin, "--plugin", python_plugin, "--impl", "example-*"}))
          .wait();
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST(Plugins, SayWhatTheyDoNotSupport) {
  const Outcome run = flashbench_says(with(
      tiny, {"--plugin", c_plugin, "--impl", "v2,example-c", "--dtype", "fp16", "--json", "-"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto row = strict_json(run.out).at("rows")[1];
  EXPECT_EQ(row.at("status"), "unsupported");
  EXPECT_EQ(row.at("reason"), "the example does fp32 on the CPU");
}

TEST(Plugins, AreInADryRun) {
  const Outcome run =
      flashbench_says(with(tiny, {"--plugin", c_plugin, "--impl", "example-c", "--dry-run"}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("example-c"));
}

// What the command says of a plugin that it refuses.
std::string refusal(const std::string& file) {
  const Outcome run = flashbench_says(with(tiny, {"--plugin", file, "--json", "/dev/null"}));
  EXPECT_EQ(run.exit_code, 2) << run.out;
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("--plugin " + file + ": "));
  return run.err;
}

TEST(Plugins, ThatCannotBeLoadedAreRefused) {
  const TemporaryFolder folder;
  EXPECT_THAT(refusal(folder / "none.so"), HasSubstr("there is no such file"));
  EXPECT_THAT(refusal(folder.path().string()), HasSubstr("it is not a file"));
  EXPECT_THAT(refusal(folder.write("text.so", "no library")), HasSubstr("it cannot be loaded"));
  EXPECT_THAT(refusal(in_bin("libflashbench-worker-cpu.so")),
              HasSubstr("it exports no flashbench_plugin()"));
  EXPECT_THAT(refusal(folder.write("broken.py", "import nonsense_that_is_not_there")),
              HasSubstr("nonsense_that_is_not_there"));
}

const std::string plain = R"(
import flashbench_plugin as fb
class Plain(fb.Implementation):
    name = "plain"
)";

TEST(Plugins, WithATableThatCannotBeServedAreRefused) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& rest) {
    return refusal(folder.write("p.py", plain + rest));
  };
  EXPECT_THAT(refused("fb.ABI = 99\nfb.serve([Plain()])"), HasSubstr("version 99"));
  EXPECT_THAT(refused("fb.serve([])"), HasSubstr("it has no implementation"));
  EXPECT_THAT(refused("fb.serve([Plain(), Plain()])"), HasSubstr("two implementations plain"));
  EXPECT_THAT(refused("Plain.name = ''\nfb.serve([Plain()])"), HasSubstr("has no name"));
}

// A plugin that speaks the protocol by itself; `hello` is what it answers.
std::string speaking(const std::string& hello) {
  return R"(
import json, socket, sys
end = socket.socket(fileno=int(sys.argv[sys.argv.index("--descriptor") + 1])).makefile("rw")
for line in end:
    end.write(json.dumps({"id": json.loads(line)["id"], "status": "ok", "op": "hello", "reason": "",
                          "device": {"backend": "cpu", "name": "x"}, "device_reason": "", "tool": "x",
                          "implementations": [{"name": "v2", "idea": "", "section": "", "passes": ["fwd"]}],
                          "ceilings": [], )" +
         hello + R"(}) + "\n")
    end.flush()
)";
}

TEST(Plugins, InPythonThatRegisterNothingAreToldWhatToCall) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& text) {
    const std::string file = folder.write("mine.py", text);
    const Outcome run = flashbench_says(with(tiny, {"--plugin", file}));
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_THAT(run.err, HasSubstr("--plugin " + file + ": "));
    return run.err;
  };
  const std::string import = "import sys, flashbench_plugin as fb\n";
  for (const std::string& silent :
       {std::string(), import + "class Mine(fb.Implementation):\n    name = 'mine'\n"})
    EXPECT_THAT(refused(silent),
                AllOf(HasSubstr("it registered no implementation"),
                      HasSubstr("flashbench_plugin.serve([...])"), HasSubstr(python_plugin)));
  EXPECT_THAT(refused(import + "print('no key', file=sys.stderr)\n"),
              AllOf(HasSubstr("registered no implementation"), HasSubstr("last words: no key")));
}

TEST(Plugins, OfAnotherProtocolOrUnderAFalseNameAreRefused) {
  const TemporaryFolder folder;
  const auto answering = [&](const std::string& hello) {
    return folder.write(
        "raw.py", speaking(hello + R"(, "method": ")" + std::string(measurement_method) + '"'));
  };
  const auto began = std::chrono::steady_clock::now();
  EXPECT_THAT(refusal(answering(R"("protocol": 99, "source": "plugin:raw")")),
              HasSubstr("speaks protocol 99"));
  // It does not know what bye means, and is not waited for as one is that has measured.
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(15));
  EXPECT_THAT(refusal(answering(R"("protocol": 1, "source": "built-in")")),
              HasSubstr("claims to be \"built-in\""));
}

TEST(Plugins, ThatMeasureByAnotherMethodAreNotComparable) {
  const TemporaryFolder folder;
  const Outcome run = flashbench_says(
      with(tiny, {"--plugin", folder.write("raw.py", speaking(R"("protocol": 1, "method": "0",
                                                            "source": "plugin:raw")"))}));
  EXPECT_EQ(run.exit_code, 6) << run.err;
  EXPECT_THAT(run.err, HasSubstr(std::string("measures by method 0 and this program by ") +
                                 measurement_method));
}

TEST(Plugins, OfOneFileNameAreRefused) {
  const Outcome run = flashbench_says(with(tiny, {"--plugin", c_plugin, "--plugin", c_plugin}));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("there is another plugin:flashbench-example.so already"));
}

TEST(Plugins, ThatRaiseAreFailedRowsAndTheOthersGoOn) {
  const TemporaryFolder folder;
  const std::string file = folder.write("p.py", plain + R"(
    def create(self, problem, device, workspace):
        raise RuntimeError("no such luck")
fb.serve([Plain()])
)");
  const Outcome run =
      flashbench_says(with(tiny, {"--plugin", file, "--impl", "v2,plain", "--json", "-"}));
  EXPECT_EQ(run.exit_code, 1) << run.err;
  const auto rows = strict_json(run.out).at("rows");
  EXPECT_EQ(rows[0].at("status"), "ok");
  EXPECT_EQ(rows[1].at("status"), "failed");
  EXPECT_EQ(rows[1].at("reason"), "RuntimeError: no such luck");
}

TEST(Plugins, ThatDieAreCrashedRowsUnderTheirOwnName) {
  const TemporaryFolder folder;
  const std::string file = folder.write("dying.py", plain + R"(
    def create(self, problem, device, workspace):
        import os
        os._exit(9)
fb.serve([Plain()])
)");
  const Outcome run =
      flashbench_says(with(tiny, {"--plugin", file, "--impl", "v2,plain", "--json", "-"}));
  const auto rows = strict_json(run.out).at("rows");
  EXPECT_EQ(rows[0].at("status"), "ok") << run.err;
  EXPECT_EQ(rows[1].at("status"), "crashed");
  EXPECT_THAT(rows[1].at("reason").get<std::string>(), HasSubstr("plugin:dying.py exited"));
}

// Sizes and the offset of a late member of each structure, as C has them.
TEST(Plugins, StructuresInPythonAreThoseOfTheHeader) {
  const std::string code = R"(
import flashbench_plugin as fb, ctypes
print([ctypes.sizeof(s) for s in (fb.Device, fb.Problem, fb.Tensor, fb.Cost, fb.KernelCost, fb.Launch, fb.Forward,
       fb.Backward, fb.InstanceTable, fb.ImplementationTable, fb.Plugin, fb.Message)] +
      [fb.Problem.scale.offset, fb.Cost.saves.offset, fb.InstanceTable.launches.offset,
       fb.ImplementationTable.destroy.offset, fb.Device.memory_bytes.offset])
)";
  const Outcome run = Program("/usr/bin/env", {"python3", "-B", "-c", code},
                              {{"PYTHONPATH", FLASHBENCH_SOURCE "/plugins/python"}})
                          .wait();
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(
      strict_json(run.out).get<std::vector<std::size_t>>(),
      ElementsAre(sizeof(FlashbenchDevice), sizeof(FlashbenchProblem), sizeof(FlashbenchTensor),
                  sizeof(FlashbenchCost), sizeof(FlashbenchKernelCost), sizeof(FlashbenchLaunch),
                  sizeof(FlashbenchForward), sizeof(FlashbenchBackward), sizeof(FlashbenchInstance),
                  sizeof(FlashbenchImplementation), sizeof(FlashbenchPlugin),
                  sizeof(FlashbenchMessage), offsetof(FlashbenchProblem, scale),
                  offsetof(FlashbenchCost, saves), offsetof(FlashbenchInstance, launches),
                  offsetof(FlashbenchImplementation, destroy),
                  offsetof(FlashbenchDevice, memory_bytes)));
}

}  // namespace
}  // namespace flashbench::test
