#include "scheduler-plugin/server/network_json.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "common/base/foreign_text.hpp"
#include "common/base/json_writer.hpp"

namespace chipweave::sched {
namespace {

constexpr std::size_t kMaxConflictsShown = 16;

std::string_view name_of_source(std::optional<std::size_t> source) {
  return source ? name_of(static_cast<NetworkSource>(*source)) : std::string_view("");
}

void write_levels(JsonWriter& w, const Network& network) {
  const NetworkShape& shape = network.shape();
  w.key("levels").begin_array();
  for (std::size_t level = 0; level < shape.levels().size(); ++level) {
    const bool last = level + 1 == shape.levels().size();
    w.begin_object().field("name", shape.levels()[level]);
    w.field("of", last ? "node" : shape.is_accelerators(level) ? "accelerators" : "switches");
    w.key("labels").strings(shape.labels(level));
    w.key("domains").integer(static_cast<std::int64_t>(network.domains(level))).end_object();
  }
  w.end_array();
}

void write_sources(JsonWriter& w, const Network& network) {
  w.key("sources").begin_array();
  for (const Network::SourceState& source : network.sources()) {
    std::vector<std::string> levels;
    for (const auto* list : {&source.levels.levels, &source.levels.accelerators}) {
      for (const domain::LabelLevel& level : *list) levels.push_back(level.name);
    }
    w.begin_object().field("name", name_of(source.source)).key("levels").strings(levels);
    w.key("nodes").integer(static_cast<std::int64_t>(source.nodes));
    w.field("problem", printable(source.problem)).end_object();
  }
  w.end_array();
}

void write_conflicts(JsonWriter& w, const Network& network) {
  w.key("conflicts").begin_object();
  w.key("nodes").integer(static_cast<std::int64_t>(network.conflicts().size()));
  w.key("first").begin_array();
  std::size_t shown = 0;
  for (const auto& [node, conflict] : network.conflicts()) {
    if (shown++ == kMaxConflictsShown) break;
    w.begin_object().field("node", node).field("level", conflict.level);
    w.field("source", name_of(conflict.source)).field("domain", conflict.element);
    w.field("other_source", name_of(conflict.other)).field("other_domain", conflict.other_element);
    w.end_object();
  }
  w.end_array().end_object();
}

}  // namespace

std::string network_json(const Network& network) {
  const NetworkShape& shape = network.shape();
  JsonWriter w;
  w.begin_object().key("known").boolean(network.known());
  w.field("source", name_of_source(shape.source()));
  write_levels(w, network);
  w.key("left_out_levels").integer(static_cast<std::int64_t>(shape.left_out()));
  w.key("accelerators").begin_object().field("state", name_of(shape.accelerators()));
  w.field("source", name_of_source(shape.accelerator_source()));
  std::vector<std::string> levels;
  levels.reserve(shape.accelerator_levels().size());
  for (const domain::LabelLevel& level : shape.accelerator_levels()) levels.push_back(level.name);
  w.key("levels").strings(levels).end_object();
  write_sources(w, network);
  w.key("nodes").integer(static_cast<std::int64_t>(network.nodes()));
  w.key("nodes_without_place").integer(static_cast<std::int64_t>(network.without_place()));
  write_conflicts(w, network);
  return w.end_object().take();
}

}  // namespace chipweave::sched
