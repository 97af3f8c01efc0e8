#include <fmt/format.h>

#include "report/grid.hpp"
#include "report/report.hpp"
#include "report/text.hpp"

namespace flashbench {

namespace {

// XML 1.0 has no way to write most control characters, U+FFFE and U+FFFF: they become spaces.
std::string xml_escaped(const std::string& given) {
  std::string result;
  const std::string text = as_utf8(given);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    const std::string_view three = std::string_view(text).substr(i, 3);
    if (three == "\ufffe" || three == "\uffff") {
      result += ' ';
      i += 2;
    } else if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '"') {
      result += "&quot;";
    } else if (c == '\n') {
      result += "&#10;";
    } else {
      result += byte < 0x20 ? ' ' : c;
    }
  }
  return result;
}

const char* element_of(Status status) {
  switch (status) {
    case Status::ok:
      return nullptr;
    case Status::failed:
      return "failure";
    case Status::crashed:
    case Status::timeout:
      return "error";
    case Status::unsupported:
    case Status::oom:
    case Status::not_run:
      return "skipped";
  }
  return nullptr;
}

std::string message_of(const Row& row) {
  const std::string status = status_of(row);
  if (status.empty()) return "neither a status nor a time was recorded";
  return row.reason.empty() ? status : status + ": " + row.reason;
}

std::string test_case(const Row& row) {
  const bool timed = row.status == Status::ok && row.time;
  const std::string open = fmt::format(
      "    <testcase classname=\"flashbench{}\" name=\"{}\"{}",
      row.what.impl.empty() ? "" : "." + xml_escaped(row.what.impl), xml_escaped(shown_key(row)),
      timed ? fmt::format(" time=\"{}\"", row.time->median * 1e-3) : "");
  const char* element = element_of(row.status);
  if (!element) return open + "/>\n";
  return fmt::format("{}>\n      <{} message=\"{}\"/>\n    </testcase>\n", open, element,
                     xml_escaped(message_of(row)));
}

}  // namespace

std::string render_junit(const Report& report) {
  std::string cases;
  int failures = 0, errors = 0, skipped = 0;
  for (const Row& row : report.rows) {
    cases += test_case(row);
    const char* element = element_of(row.status);
    const std::string_view kind = element ? element : "";
    failures += kind == "failure";
    errors += kind == "error";
    skipped += kind == "skipped";
  }
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", report.rows.size(),
                  failures, errors, skipped);
  const std::string label = report.label.empty() ? "flashbench" : report.label;
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n"
      "  <testsuite name=\"{1}\" {0}{2}>\n{3}  </testsuite>\n</testsuites>\n",
      counts, xml_escaped(label),
      report.started.empty() ? "" : fmt::format(" timestamp=\"{}\"", xml_escaped(report.started)),
      cases);
}

}  // namespace flashbench
