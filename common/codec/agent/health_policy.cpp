#include "common/codec/agent/health_policy.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/topology/topology_json_reader.hpp"
#include "common/codec/yaml/yaml_tree.hpp"

namespace chipweave::codec {
namespace {

using domain::Effect;
using domain::HealthPolicy;
using domain::HealthRule;
using domain::Recovery;

constexpr double kMaxSeconds = 366.0 * 86'400;
constexpr std::array<Effect, 4> kEffects = {Effect::note, Effect::link, Effect::network,
                                            Effect::unusable};

// "90s", "5m", "2h", "1d" or a number of seconds.
std::optional<double> seconds_of(JsonValue value) {
  if (value.is_number()) return value.number();
  if (!value.is_string()) return std::nullopt;
  const std::string_view text = value.text();
  double number = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (bad != std::errc() || end + 1 != text.data() + text.size()) return std::nullopt;
  switch (*end) {
    case 's':
      return number;
    case 'm':
      return number * 60;
    case 'h':
      return number * 3'600;
    case 'd':
      return number * 86'400;
    default:
      return std::nullopt;
  }
}

void take_time(const JsonObject& o, const char* key, double least, double& to) {
  const JsonValue value = o.find(key);
  if (!value) return;
  const auto seconds = seconds_of(value);
  if (!seconds || !(*seconds >= least && *seconds <= kMaxSeconds)) {
    o.problem(key, "must be a time like 90s, 5m or 2h, of at most 366d" +
                       std::string(least > 0 ? ", and not zero" : ""));
    return;
  }
  to = *seconds;
}

void take_number(const JsonObject& o, const char* key, double& to) {
  const auto value = o.number(key);
  if (!value) return;
  if (!(*value >= 0 && *value <= 1e15)) {
    o.problem(key, "must be a number from 0");
    return;
  }
  to = *value;
}

const HealthRule* rule_for(const HealthPolicy& policy, const std::string& code) {
  const auto at = std::find_if(
      policy.rules.begin(), policy.rules.end(),
      [&code](const HealthRule& rule) { return rule.code == code || domain::matches(rule, code); });
  return at == policy.rules.end() ? nullptr : &*at;
}

HealthRule read_rule(JsonValue value, const HealthPolicy& under, JsonProblems& problems) {
  const JsonObject o(value,
                     {"code", "effect", "rise", "window", "at-least", "after", "recovery", "hold"},
                     problems);
  const std::string code = o.require_text("code").value_or("*");
  if (code.empty()) o.problem("code", "must not be empty");
  const HealthRule* base = rule_for(under, code);
  HealthRule out = base == nullptr ? HealthRule{} : *base;
  out.code = code;
  const std::string effect = (base == nullptr ? o.require_text("effect") : o.text("effect"))
                                 .value_or(std::string(to_string(out.effect)));
  bool known = false;
  for (const Effect one : kEffects) {
    if (effect != to_string(one)) continue;
    out.effect = one;
    known = true;
  }
  if (!known) o.problem("effect", "must be note, link, network or unusable");
  const std::string recovery =
      o.text("recovery").value_or(out.recovery == Recovery::reset ? "reset" : "quiet");
  if (recovery != "quiet" && recovery != "reset") {
    o.problem("recovery", "must be quiet or reset");
  }
  out.recovery = recovery == "reset" ? Recovery::reset : Recovery::quiet;
  if (recovery == "reset" && o.has("hold")) {
    o.problem("hold", o.has("recovery") ? "cannot be combined with recovery: reset"
                                        : "cannot be combined with recovery: reset, which the "
                                          "rule below has; add recovery: quiet");
  }
  take_number(o, "rise", out.rise);
  take_number(o, "at-least", out.at_least);
  take_time(o, "window", 0.001, out.window);
  take_time(o, "after", 0, out.after);
  take_time(o, "hold", 0, out.hold);
  return out;
}

}  // namespace

Result<HealthPolicy> read_health_policy(std::string_view yaml, const HealthPolicy& under) {
  if (yaml.size() > limits::kMaxConfigBytes * 4) {
    return make_error(Errc::limit_exceeded, "a health policy has at most 256 KiB");
  }
  auto documents = parse_yaml(yaml);
  if (!documents) return std::move(documents).error();
  if (documents->size() != 1) {
    return make_error(Errc::invalid_argument,
                      "must be one YAML document with the keys links and rules");
  }
  JsonProblems problems = JsonProblems::with_lines(documents->front().lines);
  const JsonObject top(JsonValue(documents->front().tree), {"links", "rules"}, problems);
  HealthPolicy out = under;
  out.rules.clear();
  if (const JsonValue links = top.find("links")) {
    const JsonObject o(links, {"hold", "flap-window", "longest-hold"}, problems);
    take_time(o, "hold", 0, out.link_hold);
    take_time(o, "flap-window", 0, out.flap_window);
    take_time(o, "longest-hold", 0, out.longest_hold);
  }
  for (const JsonValue rule : top.array("rules", kMaxHealthRules)) {
    out.rules.push_back(read_rule(rule, under, problems));
  }
  if (problems.any()) return problems.error();
  out.rules.insert(out.rules.end(), under.rules.begin(), under.rules.end());
  return out;
}

std::string write_health_policy(const HealthPolicy& policy) {
  const auto number = [](double value) {
    std::string out;
    append_json_number(out, value);
    return out;
  };
  const auto time = [&number](double seconds) { return number(seconds) + "s"; };
  std::string out = "links: {hold: " + time(policy.link_hold) +
                    ", flap-window: " + time(policy.flap_window) +
                    ", longest-hold: " + time(policy.longest_hold) + "}\nrules:";
  if (policy.rules.empty()) return out + " []\n";
  const HealthRule usual;
  out += "\n";
  for (const HealthRule& rule : policy.rules) {
    // A JSON string is a YAML one.
    JsonWriter code;
    code.string(rule.code);
    out += "- {code: " + code.take() + ", effect: " + std::string(to_string(rule.effect));
    if (rule.rise != usual.rise) out += ", rise: " + number(rule.rise);
    if (rule.window != usual.window) out += ", window: " + time(rule.window);
    if (rule.at_least != usual.at_least) out += ", at-least: " + number(rule.at_least);
    if (rule.after != usual.after) out += ", after: " + time(rule.after);
    out += rule.recovery == Recovery::reset ? ", recovery: reset}\n"
                                            : ", hold: " + time(rule.hold) + "}\n";
  }
  return out;
}

}  // namespace chipweave::codec
