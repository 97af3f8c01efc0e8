#include "support/tested_device.hpp"

const bool flashbench::test::on_gpu = true;
