// What a report's rows say of each axis of a sweep, and which axes tell them apart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "record/row.hpp"

namespace flashbench {

// An axis of a sweep, as a column: text of each case's value, and where a report keeps it.
struct Axis {
  std::string name, heading;
  bool number = false;
  std::string (*value)(const Case&) = nullptr;
  const char* path = "";
};
const std::vector<Axis>& axes();
// The row's value; empty where the row's file does not say it.
std::string value_of(const Axis&, const Row&);
// The row's key. Where its file gives neither a key nor all that makes one: what it does give.
std::string shown_key(const Row&);
// The row's value as a cell: a row that names no implementation goes by its key.
std::string cell_of(const Axis&, const Row&);
// Empty where the row's file says neither a status nor a time.
std::string status_of(const Row&);
// Whether the row's file gives the pass and the whole problem, and nothing stands in for them.
bool says_problem(const Row&);
// Every row has the same value, or none.
bool is_constant(const Axis&, const Report&);
// Every row's value follows from another axis: keys as many as queries, the usual scale.
bool is_implied(const Axis&, const Report&);
// Every row's value follows from the row's value of the other: a batch that goes with seq.
bool follows(const Axis&, const Axis& other, const Report&);
const Axis& axis_called(std::string_view name);
// What sets the row's problem apart from others of the report: "seq=1024 mask=full".
// Empty where nothing does.
std::string place_of(const Row&, const Report&);
// The name of the device that the row was measured on; empty where nobody says.
const std::string& device_of(const Row&, const Report&);
// Whether the rows were measured on devices of different names.
bool has_several_devices(const Report&);

}  // namespace flashbench
