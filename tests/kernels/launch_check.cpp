// How the CUDA implementations are launched: on the stream they are given and no other, without
// allocating or synchronising, and not at all on tensors that lie badly. Exit 77 without a GPU.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "kernels/cuda_suite.hpp"

namespace flashbench::tests {
namespace {

constexpr auto delay = std::chrono::milliseconds(20);

// Tensors of one problem, an instance of one implementation, and what is asked of the two.
class Launcher {
 public:
  Launcher(const FlashbenchImplementation& impl, const FlashbenchProblem& p,
           const FlashbenchDevice& device)
      : impl_(impl),
        q_(p.dtype, p.batch, p.seq_q, p.query_heads, p.head_dim, Padding::bshd),
        k_(p.dtype, p.batch, p.seq_k, p.kv_heads, p.head_dim, Padding::bshd),
        v_(p.dtype, p.batch, p.seq_k, p.kv_heads, p.head_dim, Padding::bshd),
        o_(p.dtype, p.batch, p.seq_q, p.query_heads, p.head_dim, Padding::bshd),
        statistics_(static_cast<std::size_t>(3 * p.batch * p.query_heads * p.seq_q) * 4) {
    q_.fill(normal(1)), k_.fill(normal(2)), v_.fill(normal(3));
    FlashbenchMessage message{};
    FlashbenchCost cost{};
    check(impl.cost(&p, &device, FLASHBENCH_FORWARD, &cost, &message), message);
    workspace_ = DeviceMemory(static_cast<std::size_t>(cost.workspace_bytes) + 256);
    check(impl.create(&p, &device, workspace_.as<void>(), &instance_, &message), message);
    const std::int64_t rows = p.batch * p.query_heads * p.seq_q;
    forward_ = {q_.view(), k_.view(), v_.view(), o_.view(), nullptr, nullptr, nullptr};
    auto* statistics = statistics_.as<float>();
    if (cost.saves & FLASHBENCH_SAVES_LSE) forward_.lse = statistics;
    if (cost.saves & FLASHBENCH_SAVES_M_AND_L)
      forward_.m = statistics + rows, forward_.l = statistics + 2 * rows;
    FLASHBENCH_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  ~Launcher() {
    impl_.destroy(instance_.state);
    cudaStreamDestroy(stream_);
  }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  cudaStream_t stream() const { return stream_; }
  FlashbenchForward arguments() const { return forward_; }
  Tensor& o() { return o_; }
  std::vector<Tensor*> inputs() { return {&q_, &k_, &v_}; }

  FlashbenchStatus launch(const FlashbenchForward& forward, cudaStream_t stream,
                          FlashbenchMessage& message) const {
    return impl_.forward(instance_.state, &forward, stream, &message);
  }
  void launch(cudaStream_t stream) const {
    FlashbenchMessage message{};
    check(launch(forward_, stream, message), message);
  }
  // O after a run on the default stream, poisoned before.
  std::vector<std::uint16_t> plain() {
    o_.poison();
    launch(nullptr);
    FLASHBENCH_CUDA(cudaDeviceSynchronize());
    return output(nullptr);
  }
  std::vector<std::uint16_t> output(cudaStream_t stream) const {
    std::vector<std::uint16_t> bits(static_cast<std::size_t>(o_.bytes()) / 2);
    FLASHBENCH_CUDA(cudaMemcpyAsync(bits.data(), o_.view().data, bits.size() * 2,
                                    cudaMemcpyDeviceToHost, stream));
    FLASHBENCH_CUDA(cudaStreamSynchronize(stream));
    return bits;
  }

 private:
  static void check(FlashbenchStatus status, const FlashbenchMessage& message) {
    if (status != FLASHBENCH_OK) throw std::runtime_error(message.text);
  }
  const FlashbenchImplementation& impl_;
  Tensor q_, k_, v_, o_;
  DeviceMemory statistics_, workspace_;
  FlashbenchInstance instance_{};
  FlashbenchForward forward_{};
  cudaStream_t stream_ = nullptr;
};

void CUDART_CB wait_a_while(void*) {
  std::this_thread::sleep_for(delay);
}

// Milliseconds of a launch behind a delay on its stream, which a timer on another would not see.
float timed(const Launcher& launcher, cudaStream_t stream) {
  cudaEvent_t start, stop;
  FLASHBENCH_CUDA(cudaEventCreate(&start));
  FLASHBENCH_CUDA(cudaEventCreate(&stop));
  FLASHBENCH_CUDA(cudaLaunchHostFunc(stream, wait_a_while, nullptr));
  FLASHBENCH_CUDA(cudaEventRecord(start, stream));
  launcher.launch(stream);
  FLASHBENCH_CUDA(cudaEventRecord(stop, stream));
  FLASHBENCH_CUDA(cudaEventSynchronize(stop));
  float ms = 0;
  FLASHBENCH_CUDA(cudaEventElapsedTime(&ms, start, stop));
  FLASHBENCH_CUDA(cudaEventDestroy(start));
  FLASHBENCH_CUDA(cudaEventDestroy(stop));
  return ms;
}

// The inputs are NaN until a copy, behind the delay, makes them what they should be.
std::string runs_on_its_stream(Launcher& launcher) {
  const auto right = launcher.plain();
  std::vector<DeviceMemory> kept;
  for (Tensor* input : launcher.inputs()) {
    kept.emplace_back(static_cast<std::size_t>(input->bytes()));
    FLASHBENCH_CUDA(cudaMemcpy(kept.back().as<void>(), input->view().data, kept.back().bytes(),
                               cudaMemcpyDeviceToDevice));
    input->poison();
  }
  launcher.o().poison();
  FLASHBENCH_CUDA(cudaDeviceSynchronize());
  FLASHBENCH_CUDA(cudaLaunchHostFunc(launcher.stream(), wait_a_while, nullptr));
  for (std::size_t i = 0; i < kept.size(); ++i)
    FLASHBENCH_CUDA(cudaMemcpyAsync(launcher.inputs()[i]->view().data, kept[i].as<void>(),
                                    kept[i].bytes(), cudaMemcpyDeviceToDevice, launcher.stream()));
  const auto began = std::chrono::steady_clock::now();
  launcher.launch(launcher.stream());
  if (std::chrono::steady_clock::now() - began > delay / 2) return "the call waited for the device";
  if (launcher.output(launcher.stream()) != right) return "O is not that of the default stream";
  return {};
}

std::string takes_as_long_on_any_stream(Launcher& launcher) {
  std::vector<float> on_default, on_own;
  for (int i = 0; i < 22; ++i) {
    on_default.push_back(timed(launcher, nullptr));
    on_own.push_back(timed(launcher, launcher.stream()));
  }
  for (auto* times : {&on_default, &on_own}) {
    times->erase(times->begin(), times->begin() + 2);
    std::sort(times->begin(), times->end());
  }
  return near("the median in ms", on_own[10], on_default[10], 0.1 * on_default[10]);
}

// In this mode of capture an allocation, a release or a wait is an error, and a stream other than
// the one captured would leave the graph without its work.
std::string neither_allocates_nor_waits(Launcher& launcher) {
  const auto right = launcher.plain();
  launcher.o().poison();
  FLASHBENCH_CUDA(cudaDeviceSynchronize());
  FLASHBENCH_CUDA(cudaStreamBeginCapture(launcher.stream(), cudaStreamCaptureModeGlobal));
  FlashbenchMessage message{};
  const FlashbenchStatus status = launcher.launch(launcher.arguments(), launcher.stream(), message);
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(launcher.stream(), &graph);
  if (status != FLASHBENCH_OK || ended != cudaSuccess) {
    cudaGetLastError();
    return std::string("capture failed: ") + message.text + " " + cudaGetErrorString(ended);
  }
  std::size_t count = 0;
  FLASHBENCH_CUDA(cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  FLASHBENCH_CUDA(cudaGraphGetNodes(graph, nodes.data(), &count));
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type;
    FLASHBENCH_CUDA(cudaGraphNodeGetType(node, &type));
    if (type == cudaGraphNodeTypeMemAlloc || type == cudaGraphNodeTypeMemFree)
      return "it allocates on its stream";
  }
  cudaGraphExec_t run;
  FLASHBENCH_CUDA(cudaGraphInstantiate(&run, graph, 0));
  FLASHBENCH_CUDA(cudaGraphLaunch(run, launcher.stream()));
  const bool equal = launcher.output(launcher.stream()) == right;
  FLASHBENCH_CUDA(cudaGraphExecDestroy(run));
  FLASHBENCH_CUDA(cudaGraphDestroy(graph));
  return equal ? "" : "the captured launches leave another O";
}

// The same tensor one element further on, in memory of its own.
DeviceMemory shifted(FlashbenchTensor& tensor, std::int64_t bytes) {
  DeviceMemory memory(static_cast<std::size_t>(bytes) + 2);
  char* data = memory.as<char>() + 2;
  FLASHBENCH_CUDA(
      cudaMemcpy(data, tensor.data, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice));
  tensor.data = data;
  return memory;
}

// Unsupported by name, or right, and the run after it unharmed either way.
std::string survives_odd_starts(Launcher& launcher) {
  const auto right = launcher.plain();
  for (const int which : {0, 1, 2, 3}) {
    FlashbenchForward forward = launcher.arguments();
    FlashbenchTensor* tensors[] = {&forward.q, &forward.k, &forward.v, &forward.o};
    const std::int64_t bytes = which == 3
                                   ? launcher.o().bytes()
                                   : launcher.inputs()[static_cast<std::size_t>(which)]->bytes();
    const DeviceMemory memory = shifted(*tensors[which], bytes);
    launcher.o().poison();
    FlashbenchMessage message{};
    const FlashbenchStatus status = launcher.launch(forward, nullptr, message);
    if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess)
      return std::string(1, "qkvo"[which]) + ": " + cudaGetErrorString(error);
    if (which == 3)
      FLASHBENCH_CUDA(cudaMemcpy(launcher.o().view().data, forward.o.data,
                                 static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice));
    const bool refused = status == FLASHBENCH_UNSUPPORTED &&
                         std::strstr(message.text, "16-byte alignment") != nullptr;
    if (!refused && (status != FLASHBENCH_OK || launcher.output(nullptr) != right))
      return std::string(1, "qkvo"[which]) + " shifted: " + message.text;
    if (launcher.plain() != right) return "the run after it is wrong";
  }
  return {};
}

void alignment_is_asked_for(Suite& suite, const FlashbenchImplementation& impl,
                            FlashbenchProblem p) {
  p.alignment = 2;
  FlashbenchMessage message{};
  const FlashbenchStatus status = impl.supports(&p, &suite.device, &message);
  const bool named = status == FLASHBENCH_UNSUPPORTED && std::strstr(message.text, "16-byte");
  suite.report("tensors that are aligned to 2 bytes", impl.name,
               status == FLASHBENCH_OK || named ? "" : message.text);
}

int main_of() {
  Suite suite{.only = "", .device = this_device()};
  const FlashbenchPlugin& plugin = kernels::builtin();
  for (uint32_t i = 0; i < plugin.count; ++i)
    for (const FlashbenchDtype dtype : {FLASHBENCH_FP16, FLASHBENCH_BF16})
      for (const std::int64_t d : {64, 128}) {
        const FlashbenchImplementation& impl = plugin.implementations[i];
        const FlashbenchProblem p = problem(dtype, 1, 16, 4, 2048, 2048, d, true);
        FlashbenchMessage message{};
        if (impl.supports(&p, &suite.device, &message) != FLASHBENCH_OK) {
          suite.report("launches", impl.name, std::string("unsupported: ") + message.text);
          continue;
        }
        Launcher launcher(impl, p, suite.device);
        suite.report("stream", impl.name, runs_on_its_stream(launcher));
        suite.report("time on a stream", impl.name, takes_as_long_on_any_stream(launcher));
        suite.report("capture", impl.name, neither_allocates_nor_waits(launcher));
        suite.report("odd starts", impl.name, survives_odd_starts(launcher));
        alignment_is_asked_for(suite, impl, p);
      }
  std::printf("%d checks, %d failed, %d not built\n", suite.checks, suite.failures, suite.skipped);
  return suite.failures ? 1 : 0;
}

}  // namespace
}  // namespace flashbench::tests

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no GPU\n");
    return 77;
  }
  try {
    return flashbench::tests::main_of();
  } catch (const std::exception& error) {
    std::printf("FAIL %s\n", error.what());
    return 1;
  }
}
