#include "plan/config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "plan/axes.hpp"
#include "plan/config_syntax.hpp"
#include "plan/values.hpp"

namespace flashbench {

namespace {

using Json = nlohmann::ordered_json;

const SweepAxis* find_axis(const std::string& name) {
  for (const SweepAxis& axis : sweep_axes())
    if (axis.name == name) return &axis;
  return nullptr;
}

const Setting* find_setting(const std::string& name) {
  for (const Setting& setting : settings())
    if (setting.name == name) return &setting;
  return nullptr;
}

bool is_sweep_key(const std::string& name) {
  const std::vector<std::string> keys = config_keys().sweep;
  return std::ranges::find(keys, name) != keys.end();
}

std::string_view expected(ValueType type) {
  switch (type) {
    case ValueType::integer:
      return "an integer";
    case ValueType::number:
      return "a number";
    case ValueType::word:
      return "a word";
    case ValueType::flag:
      return "true or false";
  }
  return "";
}

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}
  UserRequest request;
  std::vector<std::string> mistakes;

  void read(const Json& config) {
    if (!config.is_object()) return mistake("$", "expected an object");
    for (const auto& [key, value] : config.items()) read_top(key, value);
    if (!config.contains("sweeps")) mistake("$", "has no \"sweeps\"");
    for (Sweep& sweep : request.sweeps)
      if (sweep.cache.empty()) sweep.cache = everywhere_.cache;
  }

 private:
  void mistake(const std::string& path, const std::string& what) {
    mistakes.push_back(path + ": " + what);
  }
  // Runs `read` and notes what it refuses.
  template <class Read>
  void noting(const std::string& path, Read read) {
    try {
      read();
    } catch (const UsageError& error) {
      mistake(path, error.what());
    }
  }

  void read_top(const std::string& key, const Json& value) {
    const std::string path = "$." + key;
    if (key == "name" || key == "description" || key == "$schema") {
      if (!value.is_string()) mistake(path, "expected a string");
    } else if (key == "device") {
      if (!value.is_string()) return mistake(path, "expected a string");
      request.options.device = value.get<std::string>();
    } else if (key == "view") {
      if (!value.is_string()) return mistake(path, "expected a string");
      request.options.view = value.get<std::string>();
    } else if (key == "measurement") {
      if (!value.is_object()) return mistake(path, "expected an object");
      for (const auto& [name, of] : value.items()) read_setting(path + "." + name, name, of);
      refuse_contradictions(path, value);
    } else if (key == "sweeps") {
      read_sweeps(path, value);
    } else {
      unknown_at_top(path, key, value);
    }
  }

  void unknown_at_top(const std::string& path, const std::string& key, const Json& value) {
    if (is_sweep_key(key)) {
      mistake(path, fmt::format("\"{}\" belongs into an object of \"sweeps\"", key));
      Sweep unused;
      return read_axis(path, key, value, unused);
    }
    if (find_setting(key))
      return mistake(path, fmt::format("\"{}\" belongs into \"measurement\"", key));
    const ConfigKeys keys = config_keys();
    std::vector<std::string> all = keys.top;
    all.insert(all.end(), keys.sweep.begin(), keys.sweep.end());
    all.insert(all.end(), keys.measurement.begin(), keys.measurement.end());
    const std::string near = nearest(key, all);
    std::string where;
    if (is_sweep_key(near))
      where = " (in an object of \"sweeps\")";
    else if (find_setting(near))
      where = " (in \"measurement\")";
    mistake(path, fmt::format("there is no key \"{}\"{}{}", key, did_you_mean(key, all), where));
  }

  void read_setting(const std::string& path, const std::string& name, const Json& value) {
    if (name == "cache") return read_axis(path, name, value, everywhere_);
    const Setting* setting = find_setting(name);
    if (!setting && is_sweep_key(name))
      return mistake(path, fmt::format("\"{}\" belongs into an object of \"sweeps\"", name));
    if (!setting)
      return mistake(path, fmt::format("there is no key \"{}\"{}", name,
                                       did_you_mean(name, config_keys().measurement)));
    const bool flag = setting->type == ValueType::flag;
    if (flag ? !value.is_boolean() : !(value.is_number() || value.is_string()))
      return mistake(path,
                     fmt::format("expected {}, found {}", expected(setting->type), value.dump()));
    noting(path, [&] {
      setting->set(request.options, value.is_string() ? value.get<std::string>() : value.dump());
    });
  }

  void refuse_contradictions(const std::string& path, const Json& measurement) {
    const auto says = [&](std::string_view name) {
      const auto found = measurement.find(std::string(name));
      return found != measurement.end() && *found != false;
    };
    for (const Contradiction& each : contradictions())
      if (says(each.one) && says(each.other))
        mistake(path, fmt::format("\"{}\" and \"{}\" contradict each other: {}", each.one,
                                  each.other, each.why));
  }

  void read_sweeps(const std::string& path, const Json& value) {
    if (!value.is_array()) return mistake(path, "expected a list of objects");
    if (value.empty()) return mistake(path, "the list is empty: nothing would run");
    for (std::size_t i = 0; i < value.size(); ++i)
      read_sweep(fmt::format("{}[{}]", path, i), value[i]);
  }

  void read_sweep(const std::string& path, const Json& value) {
    if (!value.is_object()) return mistake(path, "expected an object");
    Sweep sweep;
    sweep.place = file_ + ": " + path;
    for (const auto& [key, of] : value.items()) read_axis(path + "." + key, key, of, sweep);
    if (value.contains("causal") && value.contains("mask"))
      mistake(path, "\"causal\" and \"mask\" say the same: give one of them");
    request.sweeps.push_back(std::move(sweep));
  }

  void read_axis(const std::string& path, const std::string& key, const Json& value, Sweep& sweep) {
    if (key == "causal") return read_causal(path, value, sweep);
    if (key == "threshold") return read_threshold(path, value, sweep);
    if (key == "backend") return read_backend(path, value, sweep);
    if (find_setting(key))
      return mistake(path, fmt::format("\"{}\" belongs into \"measurement\"", key));
    const SweepAxis* axis = find_axis(key);
    if (!axis)
      return mistake(path, fmt::format("there is no key \"{}\"{}", key,
                                       did_you_mean(key, config_keys().sweep)));
    if (!value.is_array()) return read_value(path, *axis, value, sweep);
    if (value.empty()) mistake(path, "the list is empty: nothing would run");
    for (std::size_t i = 0; i < value.size(); ++i)
      read_value(fmt::format("{}[{}]", path, i), *axis, value[i], sweep);
  }

  void read_value(const std::string& path, const SweepAxis& axis, const Json& value, Sweep& sweep) {
    const bool number = axis.type != ValueType::word && value.is_number();
    if (!number && !value.is_string())
      return mistake(path, fmt::format("expected {} or a list of them, found {}",
                                       expected(axis.type), value.dump()));
    noting(path, [&] { axis.add(sweep, number ? value.dump() : value.get<std::string>()); });
  }

  void read_causal(const std::string& path, const Json& value, Sweep& sweep) {
    const Json list = value.is_array() ? value : Json::array({value});
    if (list.empty()) mistake(path, "the list is empty: nothing would run");
    for (const Json& one : list) {
      if (!one.is_boolean())
        return mistake(path, fmt::format("expected true or false, found {}", one.dump()));
      sweep.mask.push_back(one.get<bool>() ? Mask::causal : Mask::full);
    }
  }

  void read_threshold(const std::string& path, const Json& value, Sweep& sweep) {
    if (!value.is_number() && !value.is_string())
      return mistake(path, fmt::format("expected a number, found {}", value.dump()));
    noting(path, [&] {
      sweep.threshold = parse_fraction(value.is_string() ? value.get<std::string>() : value.dump());
    });
  }

  void read_backend(const std::string& path, const Json& value, Sweep& sweep) {
    if (!value.is_string())
      return mistake(path, fmt::format("expected a word, found {}", value.dump()));
    noting(path, [&] { sweep.backend = parse_word<Backend>(value.get<std::string>()); });
  }

  const std::string& file_;
  Sweep everywhere_;  // what "measurement" says of an axis
};

}  // namespace

ConfigKeys config_keys() {
  ConfigKeys keys{{"$schema", "name", "description", "device", "view", "measurement", "sweeps"},
                  {"cache"},
                  {"causal", "threshold", "backend"}};
  for (const SweepAxis& axis : sweep_axes()) keys.sweep.emplace_back(axis.name);
  for (const Setting& setting : settings()) keys.measurement.emplace_back(setting.name);
  return keys;
}

UserRequest parse_config(const std::string& text, const std::string& file) {
  const ConfigText parsed = parse_config_text(text, file);
  Reader reader(file);
  for (const std::string& path : parsed.repeated)
    reader.mistakes.push_back(path + ": the key stands there twice");
  reader.read(parsed.json);
  const auto& mistakes = reader.mistakes;
  if (mistakes.size() == 1) throw UsageError(fmt::format("{}: {}", file, mistakes[0]));
  if (!mistakes.empty())
    throw UsageError(fmt::format("{} has {} mistakes\n  {}", file, mistakes.size(),
                                 fmt::join(mistakes, "\n  ")));
  return std::move(reader.request);
}

}  // namespace flashbench
