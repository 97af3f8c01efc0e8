// Evaluates the arithmetic of `--explain` as a reader would: numbers, + - · / ( ), max, exp, hypot
// and ln. Words and units are passed over.
#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace flashbench::test {

class Arithmetic {
 public:
  static double value_of(const std::string& text) {
    Arithmetic reader(text);
    const double value = reader.sum();
    reader.pass_words();
    if (reader.at_ != text.size()) throw std::runtime_error("left over in: " + text);
    return value;
  }

 private:
  explicit Arithmetic(std::string_view text) : text_(text) {}

  // Blanks, and words that call no function.
  void pass_words() {
    while (at_ < text_.size()) {
      if (text_[at_] == ' ' || text_[at_] == '%') {
        ++at_;
      } else if (std::isalpha(static_cast<unsigned char>(text_[at_])) && !calls()) {
        while (at_ < text_.size() && text_[at_] != ' ') ++at_;
      } else {
        return;
      }
    }
  }
  bool calls() const {
    const std::size_t end = text_.find_first_of(" (", at_);
    return end != text_.npos && text_[end] == '(';
  }
  bool take(std::string_view token) {
    pass_words();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  double sum() {
    double value = product();
    for (;;) {
      if (take("+ "))
        value += product();
      else if (take("- "))
        value -= product();
      else
        return value;
    }
  }
  double product() {
    double value = factor();
    for (;;) {
      if (take("·"))
        value *= factor();
      else if (take("/"))
        value /= factor();
      else
        return value;
    }
  }
  double factor() {
    if (take("(")) return bracketed().front();
    if (take("max(")) return std::ranges::max(bracketed());
    if (take("exp(")) return std::exp(bracketed().front());
    if (take("ln(")) return std::log(bracketed().front());
    if (take("hypot(")) {
      const std::vector<double> values = bracketed();
      return std::hypot(values.at(0), values.at(1));
    }
    pass_words();
    std::size_t length = 0;
    const double value = std::stod(std::string(text_.substr(at_)), &length);
    at_ += length;
    return value;
  }
  std::vector<double> bracketed() {
    std::vector<double> values{sum()};
    while (take(",")) values.push_back(sum());
    if (!take(")")) throw std::runtime_error("no ) in: " + std::string(text_));
    return values;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace flashbench::test
