// The judge as a process.
#pragma once

#include <memory>

#include "judge/judge.hpp"

namespace flashbench::judge {

// Answers on the descriptor of `--descriptor N`; the exit code of main.
int serve(std::unique_ptr<Reference>, double flops_limit, int argc, char** argv);

}  // namespace flashbench::judge
