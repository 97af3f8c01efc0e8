#include "record/messages.hpp"

#include "record/message_bodies.hpp"

namespace flashbench {

using namespace parts;

namespace {

std::size_t operation_of(const Json& json) {
  const std::string word = read_text(json, "op");
  for (std::size_t i = 0; i < operations.size(); ++i)
    if (operations[i] == word) return i;
  throw ProtocolError("\"op\": \"" + word + "\" is no operation");
}

// What `read` makes of a line; errors quote the line's start.
template <class Read>
auto parse_line(const std::string& line, Read read) {
  const std::string what = "message \"" + line.substr(0, 80) + "\"";
  const Json json = parse_text(line, what);
  try {
    if (!json.is_object()) throw ProtocolError("expected an object");
    return read(json);
  } catch (const ProtocolError& error) {
    throw ProtocolError(what + ": " + error.what());
  }
}

}  // namespace

std::string to_line(const Request& request) {
  Json json = {{"id", request.id}, {"op", operations[request.body.index()]}};
  write_body(json, request.body);
  return line_of(json);
}

std::string to_line(const Reply& reply) {
  Json json = {{"id", reply.id},
               {"status", name(reply.status)},
               {"reason", text_or_null(reply.reason)},
               {"needed_bytes", integer(reply.needed_bytes)}};
  if (reply.unwritten) json["unwritten"] = true;
  if (reply.body) {
    json["op"] = operations[reply.body->index()];
    write_body(json, *reply.body);
  }
  return line_of(json);
}

std::string to_line(const Progress& progress) {
  return line_of({{"id", progress.id},
                  {"done", number(progress.done)},
                  {"of", number(progress.of)},
                  {"what", progress.what}});
}

Request parse_request(const std::string& line) {
  return parse_line(line, [](const Json& json) {
    return Request{read_integer_or(json, "id", 0), read_request_body(operation_of(json), json)};
  });
}

std::variant<Reply, Progress> parse_answer(const std::string& line) {
  return parse_line(line, [](const Json& json) -> std::variant<Reply, Progress> {
    const std::int64_t id = read_integer_or(json, "id", 0);
    if (member(json, "status").is_null())
      return Progress{id, read_number_or(json, "done", 0), read_number_or(json, "of", 0),
                      read_text(json, "what")};
    Reply reply;
    reply.id = id;
    reply.status = read_word(json, "status", Status::failed);
    reply.reason = read_text(json, "reason");
    reply.needed_bytes = read_integer(json, "needed_bytes");
    reply.unwritten = read_flag(json, "unwritten").value_or(false);
    if (!member(json, "op").is_null()) reply.body = read_reply_body(operation_of(json), json);
    return reply;
  });
}

std::string case_text(const request::Output& output, const Problem& problem, bool rounded_scores) {
  Json json = {{"impl", output.impl}, {"pass", name(output.pass)}};
  json.update(to_json(problem));
  json["rounded_scores"] = rounded_scores;
  json["set"] = output.set;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

CaseFacts parse_case_text(const std::string& text, const std::string& file) {
  const Json json = parse_text(text, file);
  try {
    if (!json.is_object()) throw ProtocolError("expected an object");
    CaseFacts facts;
    const auto read = [&](const char* key, auto& fact, const auto& value) {
      if (!member(json, key).is_null()) fact = value();
    };
    read("dtype", facts.dtype, [&] { return read_word(json, "dtype", Dtype::fp32); });
    read("mask", facts.mask, [&] { return read_word(json, "mask", Mask::full); });
    read("layout", facts.layout, [&] { return read_word(json, "layout", Layout::bshd); });
    facts.scale = read_number(json, "scale");
    return facts;
  } catch (const ProtocolError& error) {
    throw ProtocolError(file + ": " + error.what());
  }
}

}  // namespace flashbench
