#include "worker/backend_cuda.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "device/peaks.hpp"
#include "record/hardware_counters.hpp"
#include "worker/answer.hpp"
#include "worker/device_kernels.hpp"

namespace flashbench {
namespace {

using ::testing::HasSubstr;

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

class CudaBackendTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    facts_ = backend_.open("0", &why);
    if (!facts_) GTEST_SKIP() << "no usable GPU: " << why;
  }
  // Milliseconds of each of `count` samples.
  std::vector<double> samples(int count, bool cold, const std::function<void()>& call) {
    for (int i = 0; i < count; ++i) backend_.sample(call, cold);
    return backend_.collect_samples();
  }
  cudaStream_t stream() { return static_cast<cudaStream_t>(backend_.stream()); }
  double cycles_a_ms() const { return *facts_->clock_mhz * 1e3; }

  CudaBackend backend_;
  std::optional<DeviceFacts> facts_;
};

TEST(CudaBackend, NamesTheValidRangeOfAnOrdinalThatIsNone) {
  CudaBackend backend;
  std::string why;
  if (!backend.open("0", &why)) GTEST_SKIP() << why;
  for (const char* device : {"99", "-1", "x", ""}) {
    EXPECT_FALSE(CudaBackend().open(device, &why)) << device;
    EXPECT_THAT(why, HasSubstr("is not one of the")) << device;
  }
}

TEST_F(CudaBackendTest, ProfilesAPassOnceAndWaitsForIt) {
  int runs = 0;
  const auto start = std::chrono::steady_clock::now();
  backend_.profile("v2/fwd/b1", [&] {
    ++runs;
    enqueue_delay(static_cast<std::int64_t>(20 * cycles_a_ms()), stream());
  });
  EXPECT_EQ(runs, 1);
  EXPECT_GT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(15));
  EXPECT_THROW(backend_.profile("fails", [] { throw DeviceFailure("no launch", false); }),
               DeviceFailure);
}

TEST_F(CudaBackendTest, CountsTheBytesOfOneRunAndNotOfTheFlush) {
  constexpr std::int64_t bytes = std::int64_t{256} << 20;
  const double exact = static_cast<double>(bytes);
  void* data = backend_.allocate(bytes);
  void* sink = backend_.allocate(4);
  backend_.fill(data, 1, bytes);
  int runs = 0;
  const auto read = [&] {
    ++runs;
    ASSERT_EQ(enqueue_read(data, bytes, static_cast<unsigned*>(sink),
                           backend_.device().multiprocessors, stream()),
              cudaSuccess);
  };
  DeviceBackend::Counted counted;
  try {
    counted = backend_.count(counters::all(), read, true);
  } catch (const Refusal& refused) {
    backend_.release(data);
    backend_.release(sink);
    if (refused.status == Status::unsupported) GTEST_SKIP() << refused.what();
    throw;
  }
  EXPECT_GE(runs, 2) << "one that loads the kernel, and one a pass";
  for (const std::string& metric : counters::all())
    EXPECT_TRUE(counted.at(metric)) << metric << " is not of this chip";
  EXPECT_NEAR(*counted.at(counters::l2_read), exact, 0.02 * exact);
  EXPECT_NEAR(*counted.at(counters::dram_read), exact, 0.10 * exact) << "the cache was cold";
  EXPECT_LT(*counted.at(counters::l2_written), 0.02 * exact);
  EXPECT_EQ(*counted.at(counters::tensor_percent), 0);
  EXPECT_GT(samples(3, false, read).at(0), 0) << "it still times";
  backend_.release(data);
  backend_.release(sink);
}

TEST_F(CudaBackendTest, HasTheWholeMemoryForAProblemOnceItIsOpen) {
  EXPECT_EQ(backend_.room_bytes(), facts_->memory_bytes);
  EXPECT_EQ(backend_.device().multiprocessors, facts_->multiprocessors) << "no stand-in's";
}

TEST_F(CudaBackendTest, GivesBackTheBytesThatWereUploaded) {
  std::vector<std::uint8_t> bytes(100003);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  const auto size = static_cast<std::int64_t>(bytes.size());
  void* device = backend_.allocate(size);
  backend_.upload(device, bytes.data(), size);
  std::vector<std::uint8_t> back(bytes.size());
  backend_.download(back.data(), device, size);
  EXPECT_EQ(back, bytes);
  backend_.release(device);
}

TEST_F(CudaBackendTest, HashesEveryByteAndItsPlace) {
  constexpr std::int64_t size = 1000003;
  std::vector<std::uint8_t> bytes(size, 7);
  void* device = backend_.allocate(size);
  const auto hash = [&] {
    backend_.upload(device, bytes.data(), size);
    return backend_.hash(device, size);
  };
  const std::uint64_t before = hash();
  EXPECT_EQ(hash(), before);
  for (const std::size_t at : {std::size_t{0}, std::size_t{4097}, std::size_t{size - 1}}) {
    bytes[at] ^= 1;
    EXPECT_NE(hash(), before) << at;
    bytes[at] ^= 1;
  }
  bytes[8] = 1;
  bytes[16] = 2;
  const std::uint64_t one = hash();
  std::swap(bytes[8], bytes[16]);
  EXPECT_NE(hash(), one);
  backend_.release(device);
}

// The harness's stream is non-blocking: nothing but its own order keeps a reader from overtaking
// the writer.
TEST_F(CudaBackendTest, ReadsWhatADelayedWriterOfTheSameStreamLeaves) {
  constexpr std::int64_t size = 1 << 20;
  void* device = backend_.allocate(size);
  backend_.fill(device, 1, size);
  const std::uint64_t ones = backend_.hash(device, size);
  backend_.fill(device, 0, size);
  ASSERT_EQ(enqueue_delay(static_cast<std::int64_t>(20 * cycles_a_ms()), stream()), cudaSuccess);
  backend_.fill(device, 1, size);
  EXPECT_EQ(backend_.hash(device, size), ones);
  backend_.release(device);
}

TEST_F(CudaBackendTest, MeasuresAKernelOfKnownLength) {
  for (const double ms : {0.05, 1.0}) {
    const auto times = samples(20, true, [&] {
      ASSERT_EQ(enqueue_delay(static_cast<std::int64_t>(ms * cycles_a_ms()), stream()),
                cudaSuccess);
    });
    EXPECT_EQ(times.size(), 20u);
    EXPECT_GE(median(times), ms);  // the clock is at most the highest
    EXPECT_LE(median(times), 2 * ms + 0.02);
  }
}

TEST_F(CudaBackendTest, DoesNotChargeAKernelForASlowCpu) {
  const auto times = samples(20, false, [&] {
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    ASSERT_EQ(enqueue_delay(1000, stream()), cudaSuccess);
  });
  EXPECT_LE(median(times), 0.1);
}

TEST_F(CudaBackendTest, ReadsColdDataMoreSlowlyThanWarm) {
  const std::int64_t size = *facts_->l2_bytes / 4 / 16 * 16;
  void* device = backend_.allocate(size + 16);
  backend_.fill(device, 0, size + 16);
  auto* sink = reinterpret_cast<unsigned*>(static_cast<std::byte*>(device) + size);
  const auto read = [&] {
    ASSERT_EQ(
        enqueue_read(device, size, sink, static_cast<int>(*facts_->multiprocessors), stream()),
        cudaSuccess);
  };
  const double cold = median(samples(30, true, read)), warm = median(samples(30, false, read));
  EXPECT_GE(cold, warm);
  EXPECT_GE(backend_.flush_bytes(), 2 * *facts_->l2_bytes);
  if (const auto peak = datasheet_peak(facts_->name)) {
    EXPECT_LE(static_cast<double>(size) / (cold * 1e6), 1.02 * peak->gbps);
  }
  backend_.release(device);
}

TEST_F(CudaBackendTest, SaysOutOfMemoryWithoutHarm) {
  try {
    backend_.allocate(std::int64_t{1} << 45);
    FAIL() << "32 TiB were given";
  } catch (const DeviceFailure& failure) {
    EXPECT_TRUE(failure.out_of_memory);
  }
  backend_.release(backend_.allocate(1 << 20));
  backend_.synchronize();
}

}  // namespace
}  // namespace flashbench
