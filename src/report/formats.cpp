#include "report/formats.hpp"

#include "record/text.hpp"

namespace flashbench {

namespace {

// One that has no use for the options of a table.
template <std::string (*render)(const Report&)>
std::string plainly(const Report& report, const TableOptions&) {
  return render(report);
}

// One line a format.
constexpr Format all[] = {
    {"json", "the whole report; - is stdout, and then nothing else is", plainly<report_text>},
    {"csv", "a line a row; likewise", plainly<render_csv>},
    {"md", "a Markdown table; likewise", render_markdown},
    {"junit", "for CI; likewise", plainly<render_junit>},
};

}  // namespace

std::span<const Format> formats() {
  return all;
}

}  // namespace flashbench
