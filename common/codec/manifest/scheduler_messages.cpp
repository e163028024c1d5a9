#include "common/codec/manifest/scheduler_messages.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace chipweave::codec {
namespace {

using nlohmann::json;

// Runs `read` on the parsed text; what the JSON library throws becomes an Error that says which
// answer it was.
template <class Read>
auto parsed(std::string_view text, const char* what, Read&& read)
    -> Result<decltype(read(std::declval<const json&>()))> {
  try {
    return read(json::parse(text));
  } catch (const json::exception& error) {
    return make_error(Errc::invalid_argument, std::string("the scheduler's answer is no ") + what +
                                                  " (" + error.what() +
                                                  "); is this URL a chipweave-scheduler?");
  }
}

// Go writes nil maps and lists as null.
json present(const json& object, const char* key, const json& absent) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? absent : *found;
}

std::vector<int> ascending(std::vector<int> chips) {
  std::sort(chips.begin(), chips.end());
  return chips;
}

NodeView node_view(const json& item) {
  NodeView node;
  node.name = item.at("name").get<std::string>();
  node.machine = item.value("machine", "");
  node.chips = item.at("chips").get<int>();
  node.free = ascending(item.at("free").get<std::vector<int>>());
  node.unhealthy = ascending(present(item, "unhealthy", json::array()).get<std::vector<int>>());
  const json used = present(item, "used", json::object());
  for (const auto& [pod, chips] : used.items()) {
    node.used[pod] = ascending(chips.get<std::vector<int>>());
  }
  for (const json& link : present(item, "down_links", json::array())) {
    node.down_links.push_back({domain::ChipIndex{link.at(0).get<int>()},
                               domain::ChipIndex{link.at(1).get<int>()}, link.at(2).get<int>()});
  }
  for (const json& port : present(item, "down_ports", json::array())) {
    node.down_ports.push_back({port.at("chip").get<int>(), port.at("switch").get<std::string>(),
                               port.at("lanes").get<int>()});
  }
  node.down_nics = present(item, "down_nics", json::array()).get<std::vector<std::string>>();
  for (const json& fault : present(item, "faults", json::array())) {
    node.faults.push_back({fault.at("code").get<std::string>(),
                           fault.at("effect").get<std::string>(), fault.value("where", ""),
                           fault.value("text", ""), fault.value("since", "")});
  }
  return node;
}

PlacementView placement_view(const json& value) {
  PlacementView placement;
  placement.node = value.value("node", "");
  placement.resource = value.value("resource", "");
  placement.gbps = value.value("gbps", 0.0);
  for (const json& chip : value.at("chips")) placement.chips.push_back(chip.at("index").get<int>());
  placement.chips = ascending(std::move(placement.chips));
  return placement;
}

PodView pod_view(const json& pod) {
  PodView out;
  const json& metadata = pod.at("metadata");
  out.name = metadata.at("name").get<std::string>();
  out.ns = metadata.value("namespace", "default");
  out.uid = metadata.value("uid", "");
  out.node = present(pod, "spec", json::object()).value("nodeName", "");
  out.annotations =
      present(metadata, "annotations", json::object()).get<std::map<std::string, std::string>>();
  const auto placement = out.annotations.find("chipweave.dev/placement");
  if (placement != out.annotations.end())
    out.placement = placement_view(json::parse(placement->second));
  return out;
}

// Go's encoder also escapes these three, so that JSON can stand in a web page.
std::string as_go_writes(const json& value) {
  std::string out;
  for (const char c : value.dump()) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

Result<std::vector<NodeView>> read_node_views(std::string_view text) {
  return parsed(text, "list of nodes", [](const json& value) {
    std::vector<NodeView> nodes;
    for (const json& item : value.at("items")) nodes.push_back(node_view(item));
    std::sort(nodes.begin(), nodes.end(),
              [](const NodeView& a, const NodeView& b) { return a.name < b.name; });
    return nodes;
  });
}

Result<NodeView> read_node_view(std::string_view text) {
  return parsed(text, "node", [](const json& value) { return node_view(value); });
}

Result<PodView> read_pod_view(std::string_view text) {
  return parsed(text, "pod", [](const json& value) { return pod_view(value); });
}

Result<std::vector<PodSummary>> read_pod_summaries(std::string_view text) {
  return parsed(text, "list of pods", [](const json& value) {
    std::vector<PodSummary> pods;
    for (const json& item : value.at("items")) {
      PodSummary pod;
      pod.ns = item.at("namespace").get<std::string>();
      pod.name = item.at("name").get<std::string>();
      pod.resource = item.value("resource", "");
      pod.asked = item.value("asked", 0);
      pod.state = item.value("state", "");
      pod.node = item.value("node", "");
      pod.chips = ascending(present(item, "chips", json::array()).get<std::vector<int>>());
      pod.gbps = item.value("gbps", 0.0);
      pod.best_gbps = item.value("best_gbps", 0.0);
      pods.push_back(std::move(pod));
    }
    return pods;
  });
}

Result<std::string> write_extender_args(std::string_view pod,
                                        const std::vector<std::string>& nodes) {
  return parsed(pod, "pod", [&](const json& value) {
    json bare = value;
    bare.erase("kind");
    bare.erase("apiVersion");
    // Go writes struct fields in their order, which a sorted map would not keep.
    return "{\"Pod\":" + as_go_writes(bare) +
           ",\"Nodes\":null,\"NodeNames\":" + as_go_writes(json(nodes)) + "}";
  });
}

std::string write_binding_args(const std::string& ns, const std::string& name,
                               const std::string& uid, const std::string& node) {
  return "{\"PodName\":" + as_go_writes(name) + ",\"PodNamespace\":" + as_go_writes(ns) +
         ",\"PodUID\":" + as_go_writes(uid) + ",\"Node\":" + as_go_writes(node) + "}";
}

Result<FilterReply> read_filter_reply(std::string_view text) {
  return parsed(text, "filter answer", [](const json& value) {
    FilterReply reply;
    reply.error = value.value("Error", "");
    reply.nodes = present(value, "NodeNames", json::array()).get<std::vector<std::string>>();
    for (const char* key : {"FailedNodes", "FailedAndUnresolvableNodes"}) {
      const json failed = present(value, key, json::object());
      for (const auto& [node, reason] : failed.items()) {
        reply.failed[node] = reason.get<std::string>();
      }
    }
    return reply;
  });
}

Result<std::vector<HostScore>> read_prioritize_reply(std::string_view text) {
  return parsed(text, "list of scores", [](const json& value) {
    std::vector<HostScore> scores;
    for (const json& item : value) {
      scores.push_back({item.at("Host").get<std::string>(), item.at("Score").get<int>()});
    }
    return scores;
  });
}

Result<std::string> read_binding_reply(std::string_view text) {
  return parsed(text, "bind answer",
                [](const json& value) { return std::string(value.value("Error", "")); });
}

std::string read_refusal(std::string_view body) {
  constexpr std::size_t kMost = 300;
  const json value = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (value.is_object()) {
    if (const auto error = value.find("error"); error != value.end()) {
      if (error->is_string()) return error->get<std::string>();
      if (error->is_object() && error->contains("message") && (*error)["message"].is_string()) {
        return (*error)["message"].get<std::string>();
      }
    }
    if (const auto message = value.find("message");
        message != value.end() && message->is_string()) {
      return message->get<std::string>();
    }
  }
  const std::string_view line = body.substr(0, std::min(body.find('\n'), kMost));
  return line.empty() ? "no reason given" : std::string(line);
}

}  // namespace chipweave::codec
