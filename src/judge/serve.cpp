#include "judge/serve.hpp"

#include <cstdio>

namespace flashbench::judge {

int serve(std::unique_ptr<Reference> reference, double flops_limit, int argc, char** argv) {
  const std::optional<int> descriptor = descriptor_argument(argc, argv);
  if (!descriptor) {
    std::fprintf(stderr, "%s: started by flashbench, with --descriptor N\n", argv[0]);
    return 2;
  }
  send_stdout_to_stderr();
  Judge judge(std::move(reference), flops_limit);
  return answer_requests(*descriptor, [&](const request::Any& body, const Tell& tell) {
    return judge.answer(body, tell);
  });
}

}  // namespace flashbench::judge
