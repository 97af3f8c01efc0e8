// --plugin, --against and the peers that --impl names.
#pragma once

#include "plan/request.hpp"
#include "record/row.hpp"
#include "roster/roster.hpp"

namespace flashbench {

// Adds to the roster whom the request asks for. Throws GuestError.
void invite_guests(Roster&, const UserRequest&);
// The same where the device cannot be used (known_roster): only what is known without asking.
void know_guests(Roster&, const UserRequest&, const std::string& why);
// For each other build: its rows as the base, this build's as the new ones, judged as compare does;
// printed, and the worst exit code returned.
int compare_builds(const Report&, const Roster&, const Options&);

}  // namespace flashbench
