// A worker and judge whose implementations behave as their names say. Names are "kind" or "kind:N";
// N counts the runs that this process made of that implementation. With FAKE_LOG set, each request
// is noted there; FAKE_NAMES (a comma list) and FAKE_METHOD are what hello says there is.
// FAKE_MS is what a sample takes; of the workers that share a FAKE_MEMORY one has room at a time.
// FAKE_ROOM is what describe says of the device's memory. FAKE_SILENT: no answer to hello.
// FAKE_STAND_IN: of which device one called as cuda describes.
// FAKE_FORBIDDEN: no hardware counters may be read.
// FAKE_GPUS (a comma list of "UUID NAME", in CUDA's order) are the GPUs of one called as cuda.
//   ok, long (with progress), noisy, refuse, oom, bigoom (above 100000 keys), oomshared (once
//   others have run), crash:N, noisycrash:N, crashshared (once others have run), hang:N,
//   vast:N (says that a pass is 2 GFLOP, takes 0.4 s, hangs in run N),
//   wronghash:N, nohash:N, idle:N (dies after its reply), launchfail, guard, atomic, shaky (forward
//   that does not repeat), zero, babble, negative and negativeflops (by their description), large
//   (needs 1e12 bytes of workspace), miscounts and fallscounting (with --counters); of the
//   judge: wrong, judgecrash, judgehang, judgeonce (unless the file FAKE_MARKER is there).
// A program whose name ends in "faulty" gives, by FAKE_CHECKSUMS, "none", one too "few", or "other"
// ones.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include "protocol/channel.hpp"
#include "record/messages.hpp"

namespace {

using namespace flashbench;

void note(const std::string& line) {
  if (const char* path = std::getenv("FAKE_LOG"))
    std::ofstream(path, std::ios::app) << line + "\n" << std::flush;
}

void sleep_ms(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

class Fake {
 public:
  Fake(int descriptor, bool has_device, bool faulty)
      : channel_(descriptor), has_device_(has_device), faulty_(faulty) {}

  int serve() {
    for (std::string line; channel_.read_line(line) == Channel::Read::line;) {
      const Request request = parse_request(line);
      id_ = request.id;
      Reply reply = std::visit([this](const auto& body) { return answer(body); }, request.body);
      reply.id = request.id;
      channel_.write_line(to_line(reply));
      if (exit_after_reply_) _exit(3);
      if (std::holds_alternative<request::Bye>(request.body)) return 0;
    }
    return 0;
  }

 private:
  static Reply ok(reply::Any body) { return {0, Status::ok, "", {}, std::move(body)}; }
  static Reply no(Status status, const std::string& reason) {
    Reply reply{0, status, reason, {}, {}};
    if (status == Status::oom) reply.needed_bytes = std::int64_t{8} << 40;
    return reply;
  }
  static std::string kind(const std::string& impl) { return impl.substr(0, impl.find(':')); }
  static int number(const std::string& impl) {
    const auto colon = impl.find(':');
    return colon == std::string::npos ? -1 : std::stoi(impl.substr(colon + 1));
  }
  bool others_ran(const std::string& impl) const {
    return served_.size() > (served_.contains(impl) ? 1u : 0u);
  }

  Reply answer(const request::Hello& r) {
    if (std::getenv("FAKE_SILENT")) sleep_ms(1000000);
    greeted_ = true;
    reply::Hello hello;
    if (const char* method = std::getenv("FAKE_METHOD")) hello.method = method;
    hello.tool = "fake";
    hello.source = "built-in";
    if (has_device_) {
      hello.device = DeviceFacts{};
      hello.device->name = "fake device";
    } else if (std::getenv("FAKE_GPUS")) {
      hello.device = gpu(std::stoul(r.device));
      hello.device_reason = "there is no GPU " + r.device;
    } else {
      hello.device_reason = "driver 11.2 is older than CUDA 12.4 needs";
      if (const char* device = std::getenv("FAKE_STAND_IN")) hello.stand_in = device;
    }
    hello.ceilings = {"copy", "sgemm"};
    if (const char* names = std::getenv("FAKE_NAMES")) {
      std::istringstream list(names);
      for (std::string name; std::getline(list, name, ',');)
        hello.implementations.push_back({name, "an idea", "1", {"fwd"}});
    }
    return ok(hello);
  }
  static std::optional<DeviceFacts> gpu(std::size_t ordinal) {
    std::istringstream list(std::getenv("FAKE_GPUS"));
    std::string each;
    for (std::size_t i = 0; i <= ordinal; ++i)
      if (!std::getline(list, each, ',')) return std::nullopt;
    DeviceFacts facts;
    facts.backend = Backend::cuda;
    facts.uuid = each.substr(0, each.find(' '));
    facts.name = each.substr(each.find(' ') + 1);
    facts.ordinal = static_cast<std::int64_t>(ordinal);
    return facts;
  }
  Reply answer(const request::Describe& r) {
    note("describe " + r.impl);
    if (kind(r.impl) == "refuse") return no(Status::unsupported, "head dimension 128 is too much");
    reply::Describe result;
    KernelCost kernel;
    kernel.kernel = "fake";
    kernel.pipe = Pipe::sgemm;
    kernel.flops = kind(r.impl) == "vast" ? 2e9 : kind(r.impl) == "negativeflops" ? -2 : 1e6;
    result.cost.kernels.push_back(kernel);
    result.cost.saves = {"lse"};
    result.inputs_bytes = result.outputs_bytes = 1000;
    if (kind(r.impl) == "negative") result.cost.workspace_bytes = -5;
    if (kind(r.impl) == "large") result.cost.workspace_bytes = 1000000000000;
    if (const char* room = std::getenv("FAKE_ROOM")) result.room_bytes = std::stoll(room);
    return ok(result);
  }
  Reply answer(const request::Prepare& r) {
    note("prepare");
    if (!has_memory()) return no(Status::oom, "another worker holds the memory");
    problem_ = r.problem;
    reply::Prepare result;
    for (const InputSet& set : r.sets)
      result.checksums.push_back(q_of(set) + (r.pass == Pass::fwd ? "-k-v" : "-k-v-do"));
    const char* checksums = std::getenv("FAKE_CHECKSUMS");
    const std::string fault = faulty_ && checksums ? checksums : "";
    if (fault == "none") result.checksums.clear();
    if (fault == "few") result.checksums.pop_back();
    if (fault == "other") result.checksums.back() = "other";
    return ok(result);
  }
  // FAKE_MEMORY is a file that one worker at a time holds, from prepare to drop.
  bool has_memory() const {
    const char* memory = std::getenv("FAKE_MEMORY");
    if (!memory || !greeted_) return true;
    pid_t holder = 0;
    if (std::ifstream(memory) >> holder && holder != getpid()) return false;
    std::ofstream(memory) << getpid();
    return true;
  }
  void give_memory_back() const {
    const char* memory = std::getenv("FAKE_MEMORY");
    if (memory && greeted_ && has_memory()) std::filesystem::remove(memory);
  }
  // What tells inputs apart: the seed, or what stands in q.npy.
  static std::string q_of(const InputSet& set) {
    if (set.dir.empty()) return std::to_string(set.seed);
    std::ostringstream text;
    text << std::ifstream(set.dir + "/q.npy", std::ios::binary).rdbuf();
    return std::to_string(std::hash<std::string>{}(text.str()));
  }
  Reply answer(const request::Output& r) {
    note("output " + r.impl + " " + std::to_string(r.set));
    const std::string what = kind(r.impl);
    if (what == "oom" || (what == "bigoom" && problem_.seq_k > 100000) ||
        (what == "oomshared" && others_ran(r.impl)))
      return no(Status::oom, "S and P need 8 TiB");
    served_.insert(r.impl);
    std::ofstream(r.dir + "/o.npy") << r.impl;
    if (what == "vast" && r.set == 0) sleep_ms(400);
    reply::Output result;
    result.hash = "h" + std::to_string(r.set);
    result.guards_intact = what != "guard";
    if (what == "guard") result.guard_reason = "it wrote behind O";
    result.repeats_equal = what != "atomic" && what != "shaky";
    return ok(result);
  }
  Reply answer(const request::Judge& r) {
    note("judge " + r.impl + " " + std::to_string(r.set));
    const char* marker = std::getenv("FAKE_MARKER");
    if (r.impl == "judgecrash") abort();
    if (r.impl == "judgehang") sleep_ms(1000000);
    if (r.impl == "judgeonce" && marker && !std::filesystem::exists(marker)) {
      std::ofstream(marker) << "died";
      raise(SIGKILL);
    }
    TensorCheck check;
    check.tensor = "o";
    check.ratio = r.impl == "wrong" ? 40 : 0.5;
    check.rows_checked = check.rows_total = 64;
    check.verdict = r.impl == "wrong" ? Verdict::fail : Verdict::pass;
    if (r.impl == "wrong") check.reason = "O is off by 0.3 at b 0, s 3, h 0, x 5";
    return ok(reply::Judge{{check}});
  }
  Reply answer(const request::Run& r) {
    note("run " + r.impl);
    served_.insert(r.impl);
    const int run = ++runs_[r.impl];
    const std::string what = kind(r.impl);
    const bool now = run == number(r.impl);
    if (((what == "crash" || what == "noisycrash") && now) ||
        (what == "crashshared" && others_ran(r.impl)))
      crash();
    if ((what == "hang" || what == "vast") && now) sleep_ms(1000000);
    if (what == "vast") sleep_ms(400);
    if (what == "launchfail") return no(Status::failed, "the launch failed: invalid configuration");
    if (what == "babble") channel_.write_line("{]");
    exit_after_reply_ = what == "idle" && now;
    if (what == "long") work_long();
    sleep_ms(2);
    return ok(samples(r, what, run, now));
  }
  Reply answer(const request::Profile& r) {
    note("profile " + r.impl + " as " + r.range);
    served_.insert(r.impl);
    if (kind(r.impl) == "crash") crash();
    if (kind(r.impl) == "launchfail") return no(Status::failed, "the launch failed");
    Launch launch;
    launch.kernel = "fake";
    return ok(reply::Profile{{launch}});
  }
  static void crash() {
    const char words[] = "fake: about to fall\n";
    if (write(STDERR_FILENO, words, sizeof words - 1) < 0) _exit(1);
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
  }
  void work_long() {
    for (int i = 0; i < 6; ++i) {
      sleep_ms(100);
      channel_.write_line(to_line(Progress{id_, double(i + 1), 6, "part"}));
    }
  }
  static reply::Run samples(const request::Run& r, const std::string& what, int run, bool now) {
    reply::Run result;
    const std::int64_t count = r.count.value_or(20);
    for (std::int64_t i = 0; i < count; ++i) {
      const char* given = std::getenv("FAKE_MS");
      double ms = (given ? std::stod(given) : 1) + 1e-6 * static_cast<double>(i);
      if (what.starts_with("noisy")) ms = i % 2 ? 1 : 3;
      if (what == "zero") ms = 0;
      result.samples.push_back({ms, static_cast<int>((r.first_set + i) % 2)});
    }
    result.hashes = {"h0", "h1"};
    if (what == "wronghash" && now) result.hashes[1] = "other";
    if (what == "nohash" && now) result.hashes.pop_back();
    if (what == "atomic") result.hashes = {"x" + std::to_string(run), "y"};
    result.wall_ms = 2;
    return result;
  }
  Reply answer(const request::Ceiling& r) {
    note("ceiling " + r.name);
    if (std::getenv("FAKE_CEILING_CRASH") && r.name == "copy") abort();
    return ok(reply::Ceiling{{1e9, 3e9, 2e9}});
  }
  Reply answer(const request::Count& r) {
    note("count " + r.impl);
    if (std::getenv("FAKE_FORBIDDEN"))
      return no(Status::unsupported, "the driver forbids them: ask an administrator");
    if (!runs_.empty()) return no(Status::failed, "a process that has timed is asked to count");
    if (kind(r.impl) == "miscounts") return no(Status::failed, "CUPTI failed: a pass was lost");
    if (kind(r.impl) == "fallscounting" && !r.metrics.empty()) crash();
    reply::Count result;
    for (const std::string& metric : r.metrics) result.values[metric] = 1e6;
    if (!r.metrics.empty()) result.values[r.metrics.back()].reset();
    return ok(result);
  }
  Reply answer(const request::Drop&) {
    note("drop");
    give_memory_back();
    served_.clear();
    return ok(reply::Drop{});
  }
  Reply answer(const request::Bye&) { return ok(reply::Bye{}); }

  Channel channel_;
  bool has_device_, faulty_, exit_after_reply_ = false, greeted_ = false;
  std::int64_t id_ = 0;
  Problem problem_;
  std::set<std::string> served_;
  std::map<std::string, int> runs_;
};

}  // namespace

int main(int argc, char** argv) {
  int descriptor = -1;
  for (int i = 1; i + 1 < argc; ++i)
    if (std::string(argv[i]) == "--descriptor") descriptor = std::stoi(argv[i + 1]);
  if (descriptor < 0) return 2;
  const std::string name = argv[0];
  return Fake(descriptor, !name.ends_with("cuda"), name.ends_with("faulty")).serve();
}
