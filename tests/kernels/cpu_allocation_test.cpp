// Between create and destroy an implementation allocates nothing: what it allocated would be in its
// time. Every allocation of the process comes past here and is counted, the libraries' own too.
#include <atomic>

#include "kernels/gradient_case.hpp"

namespace {
std::atomic<long> allocations{0};
}

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  ++allocations;
  return __libc_realloc(old, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** to, size_t alignment, size_t size) {
  ++allocations;
  *to = __libc_memalign(alignment, size);
  return *to ? 0 : 12;
}
}

namespace flashbench::test {
namespace {

// Of each of three runs of one instance. A backward is given what the forward saved, or zeros.
std::vector<long> allocations_of(const char* name, const Shape& shape, uint32_t pass) {
  GradientCase test(shape);
  const FlashbenchImplementation& impl = implementation(name);
  FlashbenchProblem problem = problem_of(shape);
  problem.passes = pass;
  const FlashbenchDevice device = cpu_device();
  const FlashbenchCost cost = backward_cost_of(name, shape, pass);
  const auto size = static_cast<size_t>(cost.workspace_bytes);
  const std::unique_ptr<void, void (*)(void*)> workspace(
      std::aligned_alloc(256, (size + 255) / 256 * 256), std::free);
  for (auto* row : {&test.lse, &test.m, &test.l}) row->resize(static_cast<size_t>(test.rows()));
  const FlashbenchForward forward{test.q.view,     test.k.view,   test.v.view,  test.o.view,
                                  test.lse.data(), test.m.data(), test.l.data()};
  const FlashbenchBackward backward = backward_of(test, Statistics::own, cost.saves);
  FlashbenchInstance instance{};
  FlashbenchMessage message{};
  EXPECT_EQ(impl.create(&problem, &device, workspace.get(), &instance, &message), FLASHBENCH_OK);
  std::vector<long> counts(3);
  for (long& count : counts) {
    const long before = allocations;
    EXPECT_EQ(pass == FLASHBENCH_FORWARD
                  ? impl.forward(instance.state, &forward, nullptr, &message)
                  : impl.backward(instance.state, &backward, nullptr, &message),
              FLASHBENCH_OK);
    count = allocations - before;
  }
  impl.destroy(instance.state);
  return counts;
}

TEST(Counter, SeesAllocations) {
  const long before = allocations;
  const std::unique_ptr<int> number(new int(7));
  EXPECT_EQ(*number, 7);
  EXPECT_GT(allocations, before);
}

class Allocation : public testing::TestWithParam<std::tuple<const char*, uint32_t>> {};
TEST_P(Allocation, DoesNotHappenInAPass) {
  const auto [name, pass] = GetParam();
  Shape shape = {.batch = 2,
                 .query_heads = 4,
                 .kv_heads = 2,
                 .seq_q = 300,
                 .seq_k = 600,
                 .mask = FLASHBENCH_CAUSAL};
  for (const auto dtype : {FLASHBENCH_FP32, FLASHBENCH_FP16, FLASHBENCH_BF16})
    for (const auto layout : {FLASHBENCH_BSHD, FLASHBENCH_BHSD}) {
      shape.dtype = dtype;
      shape.layout = layout;
      const auto counts = allocations_of(name, shape, pass);
      EXPECT_EQ(counts[1], 0) << "dtype " << dtype << " layout " << layout;
      EXPECT_EQ(counts[2], 0) << "dtype " << dtype << " layout " << layout;
    }
}
INSTANTIATE_TEST_SUITE_P(Cpu, Allocation,
                         testing::Combine(testing::Values("naive", "v1", "v2"),
                                          testing::Values(FLASHBENCH_FORWARD,
                                                          FLASHBENCH_BACKWARD)));

}  // namespace
}  // namespace flashbench::test
