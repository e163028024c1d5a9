#include "scheduler-plugin/gang_settings.hpp"

#include <algorithm>
#include <string_view>

#include "common/base/foreign_text.hpp"
#include "common/base/near_names.hpp"
#include "common/codec/kube/gangs/gang_object.hpp"

namespace chipweave::sched {

Result<void> set_gang_kinds(Config& config, const std::vector<std::string>& values) {
  const std::vector<std::string_view> known = codec::gang_settings();
  for (const std::string& name : values) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      return make_error(Errc::invalid_argument, unknown_name("kind", name, known));
  }
  config.gang_kinds = values;
  return {};
}

Result<void> set_gate_frameworks(Config& config, const std::vector<std::string>& values) {
  const std::vector<std::string_view> known = gang_frameworks();
  for (const std::string& name : values) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      return make_error(Errc::invalid_argument, unknown_name("framework", name, known));
    if (name == "ack")
      return make_error(Errc::invalid_argument,
                        "the pods of ack are placed on one node without a gate; leave it out");
  }
  config.gate.frameworks = values;
  return {};
}

Result<void> set_gang_preemption(Config& config, const std::vector<std::string>& values) {
  const std::string& text = values.front();
  if (text != "true" && text != "false")
    return make_error(Errc::invalid_argument, "expected true or false, got " + in_quotes(text));
  config.gang_preemption = text == "true";
  return {};
}

std::vector<std::string> show_gang_preemption(const Config& config) {
  return {config.gang_preemption ? "true" : "false"};
}

}  // namespace chipweave::sched
