// flashbench, the command. Everything it does stands in cli/.
#include "cli/commands.hpp"

int main(int count, char** words) {
  return flashbench::run_command_line({words + (count > 0 ? 1 : 0), words + count});
}
