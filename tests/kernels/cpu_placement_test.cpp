// Where tensors lie in memory, and what lies behind them, has no say in the result.
#include "kernels/gradient_case.hpp"

namespace flashbench::test {
namespace {

class Placement : public testing::TestWithParam<std::tuple<const char*, FlashbenchDtype>> {};
INSTANTIATE_TEST_SUITE_P(Cpu, Placement,
                         testing::Combine(testing::Values("naive", "v1", "v2"),
                                          testing::Values(FLASHBENCH_FP32, FLASHBENCH_FP16,
                                                          FLASHBENCH_BF16)));

Shape odd_shape(FlashbenchDtype dtype) {
  return {.query_heads = 4,
          .kv_heads = 2,
          .seq_q = 70,
          .seq_k = 65,
          .head_dim = 72,
          .dtype = dtype,
          .mask = FLASHBENCH_CAUSAL};
}

// Adds 128 rows of one byte behind a tensor.
void append(Tensor& tensor, std::byte value) {
  const auto rows = static_cast<size_t>(128 * tensor.view.seq) * tensor.element();
  tensor.bytes.resize(tensor.bytes.size() + rows, value);
  tensor.view.data = tensor.bytes.data();
}

TEST_P(Placement, NanBehindTheKeysIsLikeZeros) {
  const auto [name, dtype] = GetParam();
  Case zeros(odd_shape(dtype)), nans(odd_shape(dtype));
  for (Tensor* tensor : {&zeros.k, &zeros.v}) append(*tensor, std::byte{0});
  for (Tensor* tensor : {&nans.k, &nans.v}) append(*tensor, std::byte{0xff});
  run(name, zeros);
  run(name, nans);
  EXPECT_EQ(nans.o.bytes, zeros.o.bytes);
  expect_right(name, nans);
}

TEST_P(Placement, NanBehindTheKeysIsLikeZerosInTheBackwardToo) {
  const auto [name, dtype] = GetParam();
  GradientCase zeros(odd_shape(dtype)), nans(odd_shape(dtype));
  for (Tensor* tensor : {&zeros.k, &zeros.v}) append(*tensor, std::byte{0});
  for (Tensor* tensor : {&nans.k, &nans.v}) append(*tensor, std::byte{0xff});
  for (GradientCase* test : {&zeros, &nans}) {
    run(name, *test);
    run_backward(name, *test);
  }
  EXPECT_EQ(nans.gradients(), zeros.gradients());
  expect_right_gradients(name, nans);
}

// The same tensor one element further on, in a buffer of its own.
class Shifted {
 public:
  explicit Shifted(Tensor& tensor) : tensor_(tensor), bytes_(tensor.element(), std::byte{0xff}) {
    bytes_.insert(bytes_.end(), tensor.bytes.begin(), tensor.bytes.end());
    tensor.view.data = bytes_.data() + tensor.element();
  }
  void copy_back() {
    std::copy(bytes_.begin() + static_cast<long>(tensor_.element()), bytes_.end(),
              tensor_.bytes.begin());
  }

 private:
  Tensor& tensor_;
  std::vector<std::byte> bytes_;
};

TEST_P(Placement, AnOddStartOfAnyTensorIsFine) {
  const auto [name, dtype] = GetParam();
  Case straight(odd_shape(dtype));
  run(name, straight);
  for (int which = 0; which < 4; ++which) {
    Case test(odd_shape(dtype));
    Tensor* tensors[] = {&test.q, &test.k, &test.v, &test.o};
    Shifted shifted(*tensors[which]);
    run(name, test);
    if (which == 3) shifted.copy_back();
    EXPECT_EQ(test.o.bytes, straight.o.bytes) << "qkvo"[which];
  }
}

TEST_P(Placement, AnOddStartOfAnyTensorOfTheBackwardIsFine) {
  const auto [name, dtype] = GetParam();
  GradientCase straight(odd_shape(dtype));
  run(name, straight);
  run_backward(name, straight);
  for (int which = 0; which < 8; ++which) {
    GradientCase test(odd_shape(dtype));
    run(name, test);
    Tensor* tensors[] = {&test.q,   &test.k,  &test.v,  &test.o,
                         &test.d_o, &test.dq, &test.dk, &test.dv};
    Shifted shifted(*tensors[which]);
    run_backward(name, test);
    if (which >= 5) shifted.copy_back();
    EXPECT_EQ(test.gradients(), straight.gradients()) << "tensor " << which;
  }
}

}  // namespace
}  // namespace flashbench::test
