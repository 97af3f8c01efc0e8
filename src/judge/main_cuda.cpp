// flashbench-judge-cuda --device N --descriptor N: the judge with its reference on a GPU, small
// problems aside; where that GPU cannot be used, on the CPU.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "judge/gpu_reference.hpp"
#include "judge/reference_by_size.hpp"
#include "judge/serve.hpp"

namespace {

int device_argument(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i)
    if (std::string_view(argv[i]) == "--device") return std::atoi(argv[i + 1]);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace flashbench::judge;
  std::string why;
  auto reference = gpu_reference(device_argument(argc, argv), &why);
  if (reference)
    return serve(std::make_unique<ReferenceBySize>(std::move(reference), cpu_reference()),
                 most_gpu_flops, argc, argv);
  std::fprintf(stderr, "flashbench-judge-cuda: judging on the CPU: %s\n", why.c_str());
  return serve(cpu_reference(), most_flops, argc, argv);
}
