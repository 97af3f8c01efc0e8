// The bodies of requests and replies as JSON; messages.cpp adds what all messages share.
#pragma once

#include <array>
#include <string_view>

#include "record/json_parts.hpp"

namespace flashbench {

// In the order of request::Any and reply::Any.
inline constexpr std::array<std::string_view, 11> operations{
    "hello",   "describe", "prepare", "output", "judge", "run",
    "profile", "ceiling",  "count",   "drop",   "bye"};

// Writes the body's members into an object that exists.
void write_body(Json&, const request::Any&);
void write_body(Json&, const reply::Any&);
request::Any read_request_body(std::size_t operation, const Json&);
reply::Any read_reply_body(std::size_t operation, const Json&);

// A default body of alternative `index`.
template <class Any, std::size_t... I>
Any make_alternative(std::size_t index, std::index_sequence<I...>) {
  using Maker = Any (*)();
  constexpr Maker makers[] = {
      +[] { return Any(std::in_place_type<std::variant_alternative_t<I, Any>>); }...};
  return makers[index]();
}
template <class Any>
Any make_alternative(std::size_t index) {
  static_assert(std::variant_size_v<Any> == operations.size());
  return make_alternative<Any>(index, std::make_index_sequence<operations.size()>());
}

}  // namespace flashbench
