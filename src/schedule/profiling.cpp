#include "schedule/group.hpp"

namespace flashbench {

void profile_rows(Bench& bench, const std::vector<RowRun*>& rows, bool alone) {
  for (RowRun* run : rows) {
    if (run->finished || run->set_aside) continue;
    const Case& what = run->what();
    const std::string doing = "profiling " + short_name(what);
    bench.pace.say(doing);
    const Reply reply = bench.ask_to_run(*run, request::Profile{what.impl, what.pass, key(what)},
                                         bench.pace.listener(doing));
    if (reply.status != Status::ok) {
      settle(bench, *run, reply, alone);
      continue;
    }
    run->row.launches = body_of<reply::Profile>(reply).launches;
    bench.finish(*run, Status::ok);
  }
}

}  // namespace flashbench
