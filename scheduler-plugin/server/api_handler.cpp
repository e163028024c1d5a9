#include "scheduler-plugin/server/api_handler.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/text.hpp"
#include "common/codec/topology/import.hpp"
#include "scheduler-plugin/app/gang_json.hpp"
#include "scheduler-plugin/server/http_errors.hpp"
#include "scheduler-plugin/server/network_json.hpp"
#include "scheduler-plugin/server/rank_table_json.hpp"

namespace chipweave::sched {
namespace {

constexpr std::string_view kLimit = "limit=";
constexpr std::string_view kTopology = "topology=1";
constexpr std::string_view kContinue = "continue=";
constexpr std::string_view kListBegin = R"({"items":[)";
constexpr std::size_t kItemsAPart = 32;  // some 100 us of work

std::string time_of(std::int64_t unix_ms) {
  return rfc3339(Clock::Wall(std::chrono::milliseconds(unix_ms)));
}

void write_fault(JsonWriter& w, const domain::Fault& fault) {
  w.begin_object().field("code", fault.code).field("effect", to_string(fault.effect));
  if (fault.chip) w.key("chip").integer(fault.chip->value);
  if (fault.peer) w.key("peer").integer(fault.peer->value);
  if (fault.port) w.key("port").integer(*fault.port);
  if (!fault.part.empty()) w.field("part", fault.part);
  if (fault.lanes > 0) w.key("lanes").integer(fault.lanes);
  w.field("where", place_of(fault)).field("text", fault.text);
  w.field("since", time_of(fault.since));
  if (fault.held_until == domain::kHeldUntilReset) w.key("until_reset").boolean(true);
  if (fault.held_until > 0) w.field("held_until", time_of(fault.held_until));
  w.end_object();
}

// Chip links, switch ports and NICs that are down.
void write_down(JsonWriter& w, const Node& node) {
  const domain::NodeTopology& t = node.topology;
  w.key("down_links").begin_array();
  for (const domain::DirectLink& link : t.links()) {
    if (link.lanes_down == 0) continue;
    w.integers({t.chip(link.a).index.value, t.chip(link.b).index.value, link.lanes_down});
  }
  w.end_array().key("down_ports").begin_array();
  for (const domain::Switch& by : t.switches()) {
    for (const domain::SwitchPort& port : by.ports) {
      if (port.lanes_down == 0) continue;
      w.begin_object().key("chip").integer(t.chip(port.slot).index.value);
      w.field("switch", by.name).key("lanes").integer(port.lanes_down).end_object();
    }
  }
  // Agents omit a NIC that is down from the topology.
  std::set<std::string_view> nics;
  for (const domain::Fault& fault : node.faults) {
    if (const auto nic = domain::nic_out_of_use(fault); !nic.empty()) nics.insert(nic);
  }
  w.end_array().key("down_nics").begin_array();
  for (const std::string_view nic : nics) w.string(nic);
  w.end_array();
}

// The chips of which pods use parts, and these pods.
void write_parts(JsonWriter& w, const Node& node, const std::vector<const Holding*>& holdings) {
  ChipSet chips;
  std::vector<std::string> pods;
  for (const Holding* h : holdings) {
    if (!h->parts) continue;
    chips |= h->chips;
    pods.push_back(h->key.text());
  }
  w.key("parts").begin_object().key("chips").integers(node.topology.indices(chips));
  w.key("pods").strings(pods).end_object();
}

void write_node(JsonWriter& w, const Node& node, const std::vector<const Holding*>& holdings,
                Clock::Steady now, bool with_topology = false) {
  const domain::NodeTopology& t = node.topology;
  w.begin_object().field("name", node.name).field("machine", node.machine);
  w.key("chips").integer(t.chip_count());
  // of a node whose agent is silent no chip is known to be healthy
  const ChipSet free = node.stale ? ChipSet{} : node.free();
  w.key("free").integers(t.indices(free));
  // a chip in use that becomes unhealthy stays with its pod until the pod is gone
  w.key("unhealthy").integers(t.indices(t.all() - free - node.taken));
  w.key("used").begin_object();
  std::map<std::string, ChipSet> used;
  for (const Holding* h : holdings) used[h->key.text()] |= h->chips;
  for (const auto& [pod, chips] : used) w.key(pod).integers(t.indices(chips));
  w.end_object();
  write_parts(w, node, holdings);
  w.key("network_unhealthy").integers(t.indices(node.network_unhealthy));
  w.key("resources").strings(node.resources).key("stale").boolean(node.stale);
  w.field("enforcement", domain::name_of(node.enforcement));
  w.key("closed").boolean(node.closed());
  w.key("inventory_age_seconds");
  if (node.has_inventory()) {
    w.number(std::chrono::duration<double>(now - node.last_seen).count());
  } else {
    w.raw("null");
  }
  write_down(w, node);
  w.key("faults").begin_array();
  for (const domain::Fault& fault : node.faults) write_fault(w, fault);
  w.end_array();
  if (with_topology) w.key("topology").reformatted(codec::export_topology_json(t));
  w.end_object();
}

void write_pod(JsonWriter& w, const ClusterPod& pod, const Scheduler& scheduler) {
  const Holding* held = scheduler.ledger().find(pod.request.uid);
  const Decision* decision = scheduler.decision(pod.request.uid);
  w.begin_object()
      .field("namespace", pod.request.key.ns)
      .field("name", pod.request.key.name)
      .field("uid", pod.request.uid);
  w.field("resource", pod.request.resource).key("requested").integer(pod.request.chips);
  w.field("state", to_string(scheduler.records().state_of(pod)));
  w.field("refused", pod.refused);
  w.field("reason", scheduler.pod_reason(pod));
  if (pod.created > 0) w.field("created", time_of(pod.created * 1000));
  const Node* node = held == nullptr ? nullptr : &scheduler.nodes().node(held->node);
  w.field("node", node != nullptr ? node->name : pod.node);
  w.key("node_stale").boolean(node != nullptr && node->stale);
  std::vector<int> chips;
  if (decision != nullptr) {
    chips = decision->indices;
  } else if (node != nullptr) {
    chips = node->topology.indices(held->chips);
  }
  w.key("chips").integers(chips);
  w.key("gbps").number(decision != nullptr ? decision->gbps : 0);
  w.key("best_gbps").number(decision != nullptr ? decision->best_gbps : 0);
  w.field("group", pod.request.group ? pod.request.group->name : "");
  w.field("job", job_name(pod.request));
  write_gang(w, pod.request.mark.get());
  w.end_object();
}

bool is_shown(const Node& node) { return node.has_inventory() || node.holders > 0; }

}  // namespace

PodKey pod_key_of(std::string_view rest) {
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == rest.size()) return {};
  const std::string_view name = rest.substr(slash + 1);
  if (name.find('/') != std::string_view::npos) return {};
  return {std::string(rest.substr(0, slash)), std::string(name)};
}

ApiHandler::ApiHandler(Scheduler& scheduler, SlicedReplies& replies, const RankTables* tables)
    : scheduler_(scheduler),
      replies_(replies),
      tables_(tables),
      instance_(std::to_string(scheduler.clock().wall().time_since_epoch().count())) {}

Result<ApiHandler::Page> ApiHandler::page_of(std::string_view query) const {
  Page page;
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(part.size() + 1, query.size()));
    if (part.starts_with(kLimit)) {
      const auto limit = parse_number<std::size_t>(part.substr(kLimit.size()));
      if (!limit)
        return make_error(Errc::invalid_argument, "limit: expected a number of items, 0 for all");
      page.left = *limit == 0 ? SIZE_MAX : *limit;
    } else if (part.starts_with(kContinue)) {
      const std::string_view token = part.substr(kContinue.size());
      const auto position = token.starts_with(instance_ + "-")
                                ? parse_number<std::uint64_t>(token.substr(instance_.size() + 1))
                                : std::nullopt;
      if (!position) {
        return make_error(Errc::invalid_argument,
                          "continue: this token is not of this process; list again from the start");
      }
      page.after = *position;
    } else if (part == kTopology) {
      page.topology = true;
    }
  }
  return page;
}

http::Answer ApiHandler::list(std::string_view query, Items items) {
  auto page = page_of(query);
  if (!page) return error_response(page.error());
  const auto parts = [this, page = *page, items = std::move(items), any = false,
                      begun = false](std::string& out) mutable {
    if (!std::exchange(begun, true)) out += kListBegin;
    std::string text;
    const bool more = items(page, kItemsAPart, text);
    if (!text.empty()) {
      if (std::exchange(any, true)) out += ',';
      out += text;
    }
    if (more && page.left > 0) return true;
    out += ']';
    if (more) out += R"(,"continue":")" + instance_ + "-" + std::to_string(page.after) + '"';
    out += '}';
    return false;
  };
  return replies_.answer({}, parts);
}

http::Answer ApiHandler::nodes(std::string_view query) {
  return list(query, [this](Page& page, std::size_t most, std::string& out) {
    return write_nodes(page, most, out);
  });
}

http::Answer ApiHandler::pods(std::string_view query) {
  return list(query, [this](Page& page, std::size_t most, std::string& out) {
    return write_pods(page, most, out);
  });
}

// The position of a node is its number in the table, from 1.
bool ApiHandler::write_nodes(Page& page, std::size_t most, std::string& out) const {
  const NodeTable& nodes = scheduler_.nodes();
  // A topology is some ten times the rest of a node.
  if (page.topology) most = std::max<std::size_t>(most / 16, 1);
  for (; most > 0 && page.left > 0 && page.after < nodes.size(); --most) {
    const auto id = static_cast<NodeId>(page.after++);
    if (!is_shown(nodes.node(id))) continue;
    JsonWriter w;
    write_node(w, nodes.node(id), scheduler_.ledger().on(id), scheduler_.clock().now(),
               page.topology);
    if (!out.empty()) out += ',';
    out += w.take();
    --page.left;
  }
  return page.after < nodes.size();
}

http::Response ApiHandler::node(std::string_view name, std::string_view query) {
  const auto page = page_of(query);
  if (!page) return error_response(page.error());
  const NodeTable& nodes = scheduler_.nodes();
  const NodeId id = nodes.find(name);
  if (id == kNoNode || !is_shown(nodes.node(id))) {
    return error_response(404, "not_found", "no node of that name has reported chips");
  }
  JsonWriter w;
  write_node(w, nodes.node(id), scheduler_.ledger().on(id), scheduler_.clock().now(),
             page->topology);
  return json_response(w.take());
}

// The position of a pod is its arrival.
bool ApiHandler::write_pods(Page& page, std::size_t most, std::string& out) const {
  const std::size_t asked = std::min(most, page.left);
  const auto write = [&](const ClusterPod& pod) {
    JsonWriter w;
    write_pod(w, pod, scheduler_);
    if (!out.empty()) out += ',';
    out += w.take();
    page.after = pod.arrival;
    --page.left;
  };
  if (scheduler_.cluster().each_after(page.after, asked, write) < asked) return false;
  return scheduler_.cluster().each_after(page.after, 1, [](const ClusterPod&) {}) > 0;
}

http::Response ApiHandler::network() { return json_response(network_json(scheduler_.network())); }

http::Response ApiHandler::explain(std::string_view rest) {
  const PodKey key = pod_key_of(rest);
  if (key.ns.empty())
    return error_response(404, "not_found", "the path is /api/v1/explain/NAMESPACE/NAME");
  auto text = scheduler_.placements().explain(key);
  if (!text) return error_response(text.error());
  http::Response response;
  response.body = std::move(text->json);
  return response;
}

http::Answer ApiHandler::gangs(std::string_view query) {
  return list(query, [this](Page& page, std::size_t most, std::string& out) {
    return write_gangs(page, most, out);
  });
}

// The position of a gang is its place in the order of ids.
bool ApiHandler::write_gangs(Page& page, std::size_t most, std::string& out) const {
  const auto& all = scheduler_.gangs().all();
  if (page.after >= all.size()) return false;
  const GangView view = scheduler_.gang_view();
  auto at = std::next(all.begin(), static_cast<std::ptrdiff_t>(page.after));
  for (; most > 0 && page.left > 0 && at != all.end(); --most, --page.left, ++at) {
    if (!out.empty()) out += ',';
    out += view.json(at->second, false);
    ++page.after;
  }
  return at != all.end();
}

http::Response ApiHandler::gang(std::string_view rest) {
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos)
    return error_response(404, "not_found", "the path is /api/v1/gangs/NAMESPACE/NAME");
  const std::string_view ns = rest.substr(0, slash);
  const std::string_view name = rest.substr(slash + 1);
  const GangView view = scheduler_.gang_view();
  std::string items;
  for (const auto& [id, gang] : scheduler_.gangs().all()) {
    if (gang.ns != ns || gang.name != name) continue;
    if (!items.empty()) items += ',';
    items += view.json(gang, true);
  }
  if (items.empty())
    return error_response(404, "not_found", "no pod belongs to a gang of that name");
  return json_response(std::string(kListBegin) + items + "]}");
}

http::Answer ApiHandler::rank_tables(std::string_view query) {
  return list(query, [this](Page& page, std::size_t most, std::string& out) {
    return write_rank_tables(page, most, out);
  });
}

// The position of a table is its place in the order of all.
bool ApiHandler::write_rank_tables(Page& page, std::size_t most, std::string& out) const {
  if (tables_ == nullptr) return false;
  const auto all = tables_->all();
  for (; most > 0 && page.left > 0 && page.after < all.size(); --most, --page.left) {
    if (!out.empty()) out += ',';
    out += rank_table_json(*all[page.after++], false);
  }
  return page.after < all.size();
}

http::Response ApiHandler::rank_table(std::string_view rest) {
  const PodKey key = pod_key_of(rest);
  if (key.ns.empty())
    return error_response(404, "not_found", "the path is /api/v1/ranktables/NAMESPACE/NAME");
  std::string items;
  for (const PublishedTable* table :
       tables_ == nullptr ? std::vector<const PublishedTable*>() : tables_->all()) {
    if (table->ns != key.ns || table->name != key.name) continue;
    if (!items.empty()) items += ',';
    items += rank_table_json(*table, true);
  }
  if (items.empty())
    return error_response(404, "not_found", "no job or deployment of that name asks for a table");
  return json_response(std::string(kListBegin) + items + "]}");
}

}  // namespace chipweave::sched
