// flashbench-judge --descriptor N: holds the reference and runs nothing under test.
#include <cstdio>

#include "judge/judge.hpp"

int main(int argc, char** argv) {
  const std::optional<int> descriptor = flashbench::descriptor_argument(argc, argv);
  if (!descriptor) {
    std::fputs("flashbench-judge: started by flashbench, with --descriptor N\n", stderr);
    return 2;
  }
  flashbench::send_stdout_to_stderr();
  flashbench::judge::Judge judge(flashbench::judge::cpu_reference());
  using flashbench::Tell;
  namespace request = flashbench::request;
  return flashbench::answer_requests(*descriptor, [&](const request::Any& body, const Tell& tell) {
    return judge.answer(body, tell);
  });
}
