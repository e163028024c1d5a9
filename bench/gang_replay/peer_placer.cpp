#include "bench/gang_replay/peer_placer.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/json/json_value.hpp"

namespace chipweave::bench {
namespace {

using codec::JsonValue;
using domain::TraceGang;
using simulate::GangSeats;
using solver::Fabric;
using solver::FabricNodeId;

constexpr std::size_t kShownBytes = 200;

std::vector<std::string> path_of(const Fabric& fabric, FabricNodeId node) {
  std::vector<std::string> path;
  for (solver::DomainId at = fabric.node(node).domain; at != solver::kRootDomain;
       at = fabric.parent(at))
    path.push_back(fabric.name(at));
  std::reverse(path.begin(), path.end());
  return path;
}

Error unusable(std::string_view answer) {
  return make_error(Errc::invalid_argument, "the peer's answer cannot be used: " +
                                                in_quotes(shortened(answer, kShownBytes)));
}

// Nodes with their ranks.
std::optional<GangSeats> by_rank(JsonValue pods, const Fabric& fabric) {
  GangSeats seats(pods.size(), solver::kNowhere);
  for (const JsonValue pod : pods) {
    const auto rank = pod["rank"].integer();
    const FabricNodeId node = fabric.find(pod["node"].text());
    if (!rank || *rank < 0 || *rank >= static_cast<std::int64_t>(seats.size()) ||
        node == solver::kNowhere)
      return std::nullopt;
    seats[static_cast<std::size_t>(*rank)] = node;
  }
  return seats;
}

}  // namespace

void PeerPlacer::learn(const Fabric& fabric) {
  for (auto id = static_cast<FabricNodeId>(nodes_.size()); id < fabric.node_numbers(); ++id) {
    const std::vector<std::string> path = path_of(fabric, id);
    JsonWriter node;
    node.begin_object().field("name", fabric.node(id).name).key("path").strings(path);
    nodes_.push_back(node.take());
    by_path_.emplace(joined(path, "/"), id);
  }
}

std::string PeerPlacer::request(const Fabric& fabric, const TraceGang& gang) {
  JsonWriter json;
  json.begin_object().field("id", std::to_string(++lines_)).key("network").begin_object();
  json.key("levels").strings(level_names_).key("nodes").begin_array();
  for (FabricNodeId id = 0; id < fabric.node_numbers(); ++id) {
    const solver::FabricNode& node = fabric.node(id);
    std::string members = nodes_[id] + ",\"free\":" + std::to_string(node.free);
    if (!node.healthy) members += ",\"healthy\":false";
    if (node.max_pods != solver::kUnlimitedPods)
      members += ",\"max_pods\":" + std::to_string(node.max_pods);
    json.raw(members + "}");
  }
  json.end_array().end_object().key("gang").begin_object();
  json.field("pods", gang.pods).field("chips_per_pod", gang.chips);
  const auto level = [&](const char* key, int number) {
    if (number != domain::kNoLevel) json.field(key, level_names_[static_cast<std::size_t>(number)]);
  };
  level("required_level", gang.required_level);
  level("preferred_level", gang.preferred_level);
  return json.end_object().end_object().take();
}

Result<std::optional<GangSeats>> PeerPlacer::seats_of(std::string_view answer, const Fabric& fabric,
                                                      const TraceGang& gang) const {
  const auto tree =
      codec::parse_json(answer, {PeerProgram::kMaxAnswerBytes, limits::kMaxPlanValues});
  if (!tree) return tree.error();
  const JsonValue root(*tree);
  const auto fits = root["fits"].boolean();
  if (root["error"] || !fits || root["id"].text() != std::to_string(lines_))
    return unusable(answer);
  if (!*fits) return std::optional<GangSeats>();
  if (!root["pods"].empty()) {
    auto seats = by_rank(root["pods"], fabric);
    return seats ? Result<std::optional<GangSeats>>(std::move(seats)) : unusable(answer);
  }
  GangSeats seats;
  for (const JsonValue share : root["assignment"]) {
    const auto node = by_path_.find(std::string(share.name()));
    const auto pods = share.integer();
    const auto missing = gang.pods - static_cast<std::int64_t>(seats.size());
    if (node == by_path_.end() || !pods || *pods < 0 || *pods > missing) return unusable(answer);
    seats.insert(seats.end(), static_cast<std::size_t>(*pods), node->second);
  }
  return std::optional(std::move(seats));
}

Result<std::optional<GangSeats>> PeerPlacer::place(const Fabric& fabric, const TraceGang& gang) {
  learn(fabric);
  const auto answer = peer_.ask(request(fabric, gang));
  if (!answer) return answer.error();
  return seats_of(*answer, fabric, gang);
}

}  // namespace chipweave::bench
