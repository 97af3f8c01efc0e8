#include "worker/serve.hpp"

#include <fmt/format.h>

#include <chrono>
#include <map>

#include "worker/answer.hpp"
#include "worker/convert.hpp"
#include "worker/session.hpp"

namespace flashbench {

namespace {

// One ceiling's state, from create to destroy.
class LiveCeiling {
 public:
  LiveCeiling(const kernels::Ceiling& ceiling, DeviceBackend& backend)
      : ceiling_(ceiling), backend_(backend) {
    const FlashbenchDevice device = backend.device();
    FlashbenchMessage message{};
    require_ok(ceiling.create(&device, &state_, &work_, &message), message, ceiling.name);
  }
  ~LiveCeiling() { ceiling_.destroy(state_); }
  LiveCeiling(const LiveCeiling&) = delete;
  LiveCeiling& operator=(const LiveCeiling&) = delete;

  void run() {
    FlashbenchMessage message{};
    require_ok(ceiling_.run(state_, backend_.stream(), &message), message, ceiling_.name);
  }
  std::vector<double> rates(std::int64_t samples) {
    for (std::int64_t i = 0; i < samples; ++i) backend_.sample([&] { run(); }, false);
    std::vector<double> rates;
    for (const double ms : backend_.collect_samples())
      if (ms > 0) rates.push_back(work_ / (ms * 1e-3));
    return rates;
  }

 private:
  const kernels::Ceiling& ceiling_;
  DeviceBackend& backend_;
  void* state_ = nullptr;
  double work_ = 0;
};

class Server {
 public:
  Server(const FlashbenchPlugin& plugin, std::span<const kernels::Ceiling> ceilings,
         DeviceBackend& backend, std::string source)
      : plugin_(plugin),
        ceilings_(ceilings),
        backend_(backend),
        source_(std::move(source)),
        session_(plugin, backend) {}

  reply::Any answer(const request::Any& request, const Tell& tell) {
    try {
      return std::visit([&](const auto& body) { return on(body, tell); }, request);
    } catch (const Refusal& refusal) {
      // A failure that a GPU does not survive ends this process here, not in the next row.
      if (refusal.status == Status::failed && device_) backend_.synchronize();
      throw;
    }
  }

 private:
  reply::Any on(const request::Hello& request, const Tell&) {
    reply::Hello reply;
    reply.tool = "flashbench-worker";
    reply.source = source_;
    device_ = backend_.open(request.device, &device_reason_);
    reply.device = device_;
    if (!device_) {
      reply.device_reason = device_reason_;
      reply.stand_in = backend_.stand_in();
    }
    for (std::uint32_t i = 0; i < plugin_.count; ++i)
      reply.implementations.push_back(facts(plugin_.implementations[i]));
    for (const kernels::Ceiling& ceiling : ceilings_) reply.ceilings.push_back(ceiling.name);
    return reply;
  }
  reply::Any on(const request::Describe& request, const Tell&) {
    return session_.describe(request);
  }
  reply::Any on(const request::Prepare& request, const Tell& tell) {
    require_device();
    return session_.prepare(request, tell);
  }
  reply::Any on(const request::Output& request, const Tell& tell) {
    return session_.output(request, tell);
  }
  reply::Any on(const request::Run& request, const Tell& tell) {
    return session_.run(request, tell);
  }
  reply::Any on(const request::Profile& request, const Tell&) { return session_.profile(request); }
  reply::Any on(const request::Ceiling& request, const Tell& tell) {
    require_device();
    return measure(request, tell);
  }
  reply::Any on(const request::Drop&, const Tell&) {
    live_ceilings_.clear();
    if (!device_) return reply::Drop{};
    return session_.drop();
  }
  reply::Any on(const request::Bye&, const Tell&) { return reply::Bye{}; }
  reply::Any on(const request::Judge&, const Tell&) {
    throw Refusal(Status::unsupported, "a worker does not judge; ask flashbench-judge");
  }
  reply::Any on(const request::Count& request, const Tell&) {
    require_device();
    return session_.count(request);
  }

  void require_device() const {
    if (!device_)
      throw Refusal(Status::failed, device_reason_.empty()
                                        ? "no device is open: hello comes first"
                                        : fmt::format("no usable device: {}", device_reason_));
  }
  static ImplementationFacts facts(const FlashbenchImplementation&);
  reply::Ceiling measure(const request::Ceiling&, const Tell&);

  const FlashbenchPlugin& plugin_;
  std::span<const kernels::Ceiling> ceilings_;
  DeviceBackend& backend_;
  std::string source_;
  Session session_;
  std::map<std::string, LiveCeiling> live_ceilings_;  // by name; made when first asked for
  std::optional<DeviceFacts> device_;
  std::string device_reason_;
};

ImplementationFacts Server::facts(const FlashbenchImplementation& implementation) {
  const auto text = [](const char* name) { return std::string(name ? name : ""); };
  ImplementationFacts facts{
      text(implementation.name), text(implementation.idea), text(implementation.section), {}};
  if (implementation.passes & FLASHBENCH_FORWARD) facts.passes.push_back("fwd");
  if (implementation.passes & FLASHBENCH_BACKWARD) facts.passes.push_back("bwd");
  return facts;
}

reply::Ceiling Server::measure(const request::Ceiling& request, const Tell& tell) {
  using Clock = std::chrono::steady_clock;
  for (const kernels::Ceiling& ceiling : ceilings_) {
    if (request.name != ceiling.name) continue;
    LiveCeiling& live = live_ceilings_.try_emplace(request.name, ceiling, backend_).first->second;
    live.run();
    backend_.synchronize();
    reply::Ceiling reply;
    const auto start = Clock::now();
    double elapsed = 0;
    do {
      const std::vector<double> rates = live.rates(1);
      reply.rates.insert(reply.rates.end(), rates.begin(), rates.end());
      elapsed = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
      tell(elapsed, request.for_ms, fmt::format("measuring {}", request.name));
    } while (elapsed < request.for_ms);
    return reply;
  }
  throw Refusal(Status::unsupported, fmt::format("this worker has no ceiling {}", request.name));
}

}  // namespace

int serve(const FlashbenchPlugin& plugin, std::span<const kernels::Ceiling> ceilings,
          DeviceBackend& backend, int descriptor, const std::string& source) {
  Server server(plugin, ceilings, backend, source);
  return answer_requests(descriptor, [&](const request::Any& request, const Tell& tell) {
    return server.answer(request, tell);
  });
}

}  // namespace flashbench
