#include "common/codec/manifest/scheduler_messages.hpp"

#include <algorithm>
#include <climits>
#include <iterator>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/text/go_form.hpp"

namespace chipweave::codec {
namespace {

// Large answers list every node or pod of a cluster.
constexpr JsonLimits kAnswerLimits{limits::kMaxNetworkFileBytes, limits::kMaxNetworkValues};

Error wrong_answer(const char* wanted, const std::string& why) {
  return make_error(Errc::invalid_argument, std::string("the scheduler's answer is not a ") +
                                                wanted + " (" + why +
                                                "); is this URL a chipweave-scheduler?");
}

// Runs `read` on the parsed text.
template <class Read>
auto parsed(std::string_view text, const char* wanted, Read&& read)
    -> Result<decltype(read(JsonValue(), std::declval<JsonProblems&>()))> {
  const Result<JsonTree> tree = parse_json(text, kAnswerLimits);
  if (!tree) return wrong_answer(wanted, tree.error().text());
  JsonProblems problems;
  auto out = read(JsonValue(*tree), problems);
  if (problems.any()) return wrong_answer(wanted, problems.error().text());
  return out;
}

std::vector<int> ascending_indices(JsonValue list, JsonProblems& problems) {
  std::vector<int> out;
  for (const JsonValue item : list) {
    out.push_back(as_integer(item, 0, INT_MAX, problems).value_or(0));
  }
  std::sort(out.begin(), out.end());
  return out;
}

NodeView node_view(JsonValue item, JsonProblems& problems) {
  const JsonObject object = JsonObject::tolerant(item, problems);
  const auto list = [&](std::string_view key) {
    return object.array(key, limits::kMaxNetworkValues);
  };
  NodeView node;
  node.name = object.require_text("name").value_or("");
  node.machine = object.text_or_empty("machine");
  node.chips = object.require_integer("chips", 0, INT_MAX).value_or(0);
  object.require("free");
  node.free = ascending_indices(list("free"), problems);
  node.unhealthy = ascending_indices(list("unhealthy"), problems);
  node.network_unhealthy = ascending_indices(list("network_unhealthy"), problems);
  for (const JsonValue chips : object.map("used", limits::kMaxNetworkValues)) {
    node.used[std::string(chips.name())] = ascending_indices(chips, problems);
  }
  if (const JsonValue value = object.find("parts")) {
    const JsonObject parts = JsonObject::tolerant(value, problems);
    node.chips_in_parts =
        ascending_indices(parts.array("chips", limits::kMaxNetworkValues), problems);
    node.pods_with_parts = parts.texts("pods", limits::kMaxNetworkValues);
  }
  for (const JsonValue link : list("down_links")) {
    std::vector<int> parts;
    for (const JsonValue part : link) {
      parts.push_back(as_integer(part, 0, INT_MAX, problems).value_or(0));
    }
    if (parts.size() != 3) {
      problems.add(link, "must be [a,b,lanes]");
      continue;
    }
    node.down_links.push_back({domain::ChipIndex{parts[0]}, domain::ChipIndex{parts[1]}, parts[2]});
  }
  for (const JsonValue value : list("down_ports")) {
    const JsonObject port = JsonObject::tolerant(value, problems);
    node.down_ports.push_back(
        {port.integer_or("chip", 0), port.text_or_empty("switch"), port.integer_or("lanes", 0)});
  }
  node.down_nics = object.texts("down_nics", limits::kMaxNetworkValues);
  node.stale = object.flag("stale").value_or(false);
  if (node.stale) {  // older schedulers list them as free
    std::vector<int> unknown;
    std::merge(node.free.begin(), node.free.end(), node.unhealthy.begin(), node.unhealthy.end(),
               std::back_inserter(unknown));
    node.unhealthy = std::move(unknown);
    node.free.clear();
  }
  node.closed = object.flag("closed").value_or(false);
  node.age = object.number("inventory_age_seconds");
  node.resources = object.texts("resources", limits::kMaxNetworkValues);
  node.enforcement = object.text_or_empty("enforcement");
  node.topology = object.find("topology").raw();
  for (const JsonValue value : list("faults")) {
    const JsonObject fault = JsonObject::tolerant(value, problems);
    node.faults.push_back({fault.require_text("code").value_or(""),
                           fault.require_text("effect").value_or(""), fault.text_or_empty("where"),
                           fault.text_or_empty("text"), fault.text_or_empty("since")});
  }
  node.json = item.raw();
  return node;
}

PodView pod_view(JsonValue pod, JsonProblems& problems) {
  PodView out;
  const JsonObject metadata = JsonObject::tolerant(pod["metadata"], problems);
  out.name = metadata.require_text("name").value_or("");
  out.ns = metadata.text("namespace").value_or("default");
  out.uid = metadata.text_or_empty("uid");
  out.node = pod["spec"]["nodeName"].string().value_or("");
  for (const JsonValue value : metadata.map("annotations", limits::kMaxNetworkValues)) {
    out.annotations.emplace(value.name(), value.text());
  }
  const JsonValue placement = pod["metadata"]["annotations"]["chipweave.dev/placement"];
  if (!placement) return out;
  Result<PlacementNote> note = read_placement(placement.text());
  if (note) {
    out.placement = *std::move(note);
  } else {
    problems.add(placement, note.error().text());
  }
  return out;
}

PodSummary pod_summary(JsonValue value, JsonProblems& problems) {
  const JsonObject item = JsonObject::tolerant(value, problems);
  PodSummary pod;
  pod.ns = item.require_text("namespace").value_or("");
  pod.name = item.require_text("name").value_or("");
  pod.resource = item.text_or_empty("resource");
  pod.requested = item.integer_or("requested", 0);
  pod.state = item.text_or_empty("state");
  pod.node = item.text_or_empty("node");
  pod.chips = ascending_indices(item.array("chips", limits::kMaxNetworkValues), problems);
  pod.gbps = item.number("gbps").value_or(0);
  pod.best_gbps = item.number("best_gbps").value_or(0);
  pod.job = item.text_or_empty("job");
  pod.gang = value["gang"]["name"].string().value_or("");
  pod.reason = item.text_or_empty("reason");
  pod.created = item.text_or_empty("created");
  pod.node_stale = item.flag("node_stale").value_or(false);
  pod.json = value.raw();
  return pod;
}

GangSlotView gang_slot(JsonValue value, JsonProblems& problems) {
  const JsonObject item = JsonObject::tolerant(value, problems);
  GangSlotView slot;
  slot.rank = item.integer_or("rank", 0);
  slot.pod = item.text_or_empty("pod");
  slot.state = item.text_or_empty("state");
  slot.node = item.text_or_empty("node");
  for (const JsonValue element : item.array("path", limits::kMaxNetworkLevels))
    slot.path.emplace_back(element.text());
  slot.chips = ascending_indices(item.array("chips", limits::kMaxNetworkValues), problems);
  return slot;
}

GangSummary gang_summary(JsonValue value, JsonProblems& problems) {
  const JsonObject item = JsonObject::tolerant(value, problems);
  GangSummary gang;
  gang.ns = item.require_text("namespace").value_or("");
  gang.name = item.require_text("name").value_or("");
  gang.framework = item.text_or_empty("framework");
  gang.state = item.text_or_empty("state");
  gang.pods = item.integer_or("pods", 0);
  gang.bound = item.integer_or("bound", 0);
  gang.quorum = item.integer_or("quorum", 0);
  gang.summary = item.text_or_empty("summary");
  gang.problem = item.text_or_empty("problem");
  if (!item.has("plan")) return gang;
  const JsonObject plan = JsonObject::tolerant(value["plan"], problems);
  gang.plan = plan.text_or_empty("id");
  gang.gbps = plan.number("gbps").value_or(0);
  for (const JsonValue slot : plan.array("slots", limits::kMaxGangPods))
    gang.slots.push_back(gang_slot(slot, problems));
  for (const JsonValue spare : plan.array("spares", limits::kMaxGangPods))
    gang.spares.push_back(gang_slot(spare, problems));
  return gang;
}

// All items of an answer.
template <class View>
Result<std::vector<View>> listed(std::string_view text, const char* wanted,
                                 View (*view)(JsonValue, JsonProblems&)) {
  return parsed(text, wanted, [view](JsonValue value, JsonProblems& problems) {
    std::vector<View> out;
    const JsonObject answer = JsonObject::tolerant(value, problems);
    answer.require("items");
    for (const JsonValue item : answer.array("items", limits::kMaxNetworkValues))
      out.push_back(view(item, problems));
    return out;
  });
}

}  // namespace

Result<std::vector<NodeView>> read_node_views(std::string_view text) {
  return listed(text, "list of nodes", node_view).transform([](std::vector<NodeView> nodes) {
    std::sort(nodes.begin(), nodes.end(),
              [](const NodeView& a, const NodeView& b) { return a.name < b.name; });
    return nodes;
  });
}

Result<NodeView> read_node_view(std::string_view text) { return parsed(text, "node", node_view); }

Result<PodView> read_pod_view(std::string_view text) { return parsed(text, "pod", pod_view); }

Result<std::vector<PodSummary>> read_pod_summaries(std::string_view text) {
  return listed(text, "list of pods", pod_summary);
}

Result<std::vector<GangSummary>> read_gang_summaries(std::string_view text) {
  return listed(text, "list of gangs", gang_summary);
}

Result<AnswerPage> read_answer_page(std::string_view text) {
  return parsed(text, "list", [](JsonValue value, JsonProblems& problems) {
    AnswerPage page;
    const JsonObject answer = JsonObject::tolerant(value, problems);
    answer.require("items");
    for (const JsonValue item : answer.array("items", limits::kMaxNetworkValues)) {
      if (!page.items.empty()) page.items += ',';
      page.items += item.raw();
    }
    page.continues = answer.text_or_empty("continue");
    return page;
  });
}

Result<std::string> write_extender_args(std::string_view pod,
                                        const std::vector<std::string>& nodes) {
  const Result<JsonTree> tree = parse_json(pod, kAnswerLimits);
  if (!tree || !JsonValue(*tree).is_object()) return wrong_answer("pod", "not a JSON object");
  JsonWriter out;
  out.begin_object().key("Pod").begin_object();
  for (const JsonValue member : JsonValue(*tree)) {
    if (member.name() == "kind" || member.name() == "apiVersion") continue;
    out.key(member.name()).reformatted(member.raw());
  }
  out.end_object().key("Nodes").raw("null").key("NodeNames").strings(nodes);
  return go_form(out.end_object().text());
}

std::string write_binding_args(const std::string& ns, const std::string& name,
                               const std::string& uid, const std::string& node) {
  JsonWriter out;
  out.begin_object().field("PodName", name).field("PodNamespace", ns);
  return go_form(out.field("PodUID", uid).field("Node", node).end_object().text());
}

Result<FilterReply> read_filter_reply(std::string_view text) {
  return parsed(text, "filter answer", [](JsonValue value, JsonProblems& problems) {
    const JsonObject answer = JsonObject::tolerant(value, problems);
    FilterReply reply;
    reply.error = answer.text_or_empty("Error");
    reply.nodes = answer.texts("NodeNames", limits::kMaxNetworkValues);
    for (const char* key : {"FailedNodes", "FailedAndUnresolvableNodes"}) {
      for (const JsonValue reason : answer.map(key, limits::kMaxNetworkValues)) {
        reply.failed[std::string(reason.name())] = reason.text();
      }
    }
    return reply;
  });
}

Result<std::vector<HostScore>> read_prioritize_reply(std::string_view text) {
  return parsed(text, "list of scores", [](JsonValue value, JsonProblems& problems) {
    std::vector<HostScore> scores;
    if (!value.is_array()) problems.add(value, expected("a list", value));
    for (const JsonValue item : value) {
      const JsonObject score = JsonObject::tolerant(item, problems);
      scores.push_back({score.require_text("Host").value_or(""),
                        score.require_integer("Score", 0, INT_MAX).value_or(0)});
    }
    return scores;
  });
}

Result<std::string> read_binding_reply(std::string_view text) {
  return parsed(text, "bind answer", [](JsonValue value, JsonProblems& problems) {
    return JsonObject::tolerant(value, problems).text_or_empty("Error");
  });
}

std::string read_refusal(std::string_view body) {
  constexpr std::size_t kMaxReason = 300;
  if (const Result<JsonTree> tree = parse_json(body)) {
    const JsonValue value(*tree);
    for (const JsonValue reason : {value["error"], value["error"]["message"], value["message"]}) {
      if (reason.is_string()) return std::string(reason.text());
    }
  }
  const std::string_view line = body.substr(0, std::min(body.find('\n'), kMaxReason));
  return line.empty() ? "no reason given" : std::string(line);
}

}  // namespace chipweave::codec
