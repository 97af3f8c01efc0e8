// flashbench-judge --descriptor N: holds the reference and runs nothing under test.
#include "judge/serve.hpp"

int main(int argc, char** argv) {
  using namespace flashbench::judge;
  return serve(cpu_reference(), most_flops, argc, argv);
}
