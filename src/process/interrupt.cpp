#include "process/interrupt.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>

namespace flashbench {

namespace {

constexpr std::array<int, 4> watched{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// All that the handler touches is lock-free.
std::atomic<int> signals_seen{0};
int scopes = 0;  // alive, of which the outermost has the handlers
// Process groups, in blocks that are added as they fill and never given back: a handler may be
// reading them at any time.
struct GroupBlock {
  std::array<std::atomic<pid_t>, 64> ids{};
  std::atomic<GroupBlock*> next{nullptr};
};
GroupBlock first_groups;
std::array<char, 4096> scratch{};
std::atomic<bool> scratch_set{false};

static_assert(std::atomic<int>::is_always_lock_free && std::atomic<pid_t>::is_always_lock_free &&
              std::atomic<GroupBlock*>::is_always_lock_free);

// Puts `to` where `from` stands, in the first place that holds it. False where none does.
bool exchange_group(pid_t from, pid_t to) {
  for (GroupBlock* block = &first_groups; block; block = block->next.load())
    for (auto& id : block->ids) {
      pid_t held = from;
      if (id.compare_exchange_strong(held, to)) return true;
    }
  return false;
}

void add_group_block() {
  auto* added = new GroupBlock;
  GroupBlock* last = &first_groups;
  for (GroupBlock* next = nullptr; !last->next.compare_exchange_strong(next, added); next = nullptr)
    last = next;
}

// Only async-signal-safe calls, hence rm rather than std::filesystem.
void end_at_once() {
  for (const GroupBlock* block = &first_groups; block; block = block->next.load())
    for (const auto& group : block->ids)
      if (const pid_t id = group.load(); id > 0) kill(-id, SIGKILL);
  if (scratch_set.load()) {
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/rm", "rm", "-rf", "--", scratch.data(), static_cast<char*>(nullptr));
      _exit(127);
    }
    if (child > 0) waitpid(child, nullptr, 0);
  }
  _exit(130);
}

void on_signal(int) {
  if (signals_seen.fetch_add(1) >= 1) end_at_once();
}

}  // namespace

struct InterruptScope::Former {
  std::array<struct sigaction, watched.size()> actions;
};

InterruptScope::InterruptScope() {
  if (scopes++ > 0) return;  // the outer one watches
  former_ = std::make_unique<Former>();
  signals_seen = 0;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // a report that is being written is written whole
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < watched.size(); ++i) {
    sigaction(watched[i], &action, &former_->actions[i]);
    if (watched[i] == SIGHUP && former_->actions[i].sa_handler == SIG_IGN)  // nohup
      sigaction(watched[i], &former_->actions[i], nullptr);
  }
}

InterruptScope::~InterruptScope() {
  --scopes;
  if (!former_) return;
  for (std::size_t i = 0; i < watched.size(); ++i)
    sigaction(watched[i], &former_->actions[i], nullptr);
  signals_seen = 0;
}

bool interrupted() {
  return signals_seen.load() > 0;
}

void register_process_group(pid_t id) {
  while (!exchange_group(0, id)) add_group_block();
}

void forget_process_group(pid_t id) {
  exchange_group(id, 0);
}

void register_scratch(const std::string& path) {
  scratch_set = false;
  if (path.empty() || path.size() >= scratch.size()) return;
  std::memcpy(scratch.data(), path.c_str(), path.size() + 1);
  scratch_set = true;
}

}  // namespace flashbench
