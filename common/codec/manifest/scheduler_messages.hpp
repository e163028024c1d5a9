// The messages between the command line and a scheduler: kube-scheduler's extender calls, byte for
// byte as kube-scheduler writes them, and the answers of the scheduler's own JSON paths.
//
// Answers are untrusted input: missing keys and wrong types are an Error, unknown keys are ignored.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/kube/pod/placement.hpp"
#include "common/domain/declared_faults.hpp"

namespace chipweave::codec {

// A fault of a node, as its agent reports it.
struct FaultView {
  std::string code;
  std::string effect;  // "note", "link", "network", "unusable"
  std::string where;   // "chip 3", "link 0-4", "mlx5_0", "machine"
  std::string text;
  std::string since;
};

// Lanes of a chip to a switch that are down.
struct DownPortView {
  int chip = 0;
  std::string by_switch;
  int lanes = 0;
};

// GET /api/v1/nodes, one item. Chips are vendor indices, ascending.
struct NodeView {
  std::string name;
  std::string machine;  // profile or model name, as the agent reports it
  int chips = 0;
  std::vector<int> free;
  std::vector<int> unhealthy;
  std::vector<int> network_unhealthy;            // not for jobs of several pods
  std::map<std::string, std::vector<int>> used;  // "namespace/name" → chips
  // Chips of which pods use parts, and these pods; empty if the scheduler does not report them.
  std::vector<int> chips_in_parts;
  std::vector<std::string> pods_with_parts;
  std::vector<domain::DownLink> down_links;
  // Empty if the scheduler does not report them.
  std::vector<DownPortView> down_ports;
  std::vector<std::string> down_nics;
  std::vector<FaultView> faults;  // worst first
  bool stale = false;             // its agent is no longer heard: it has no free chips
  bool closed = false;            // its device plugin is not ready
  std::optional<double> age;      // seconds since its agent was heard; nullopt: it never was
  std::vector<std::string> resources;
  std::string enforcement;
  std::string topology;  // as JSON; empty unless the request has topology=1
  std::string json;      // the item as it was answered
};
// By name; the scheduler lists them in order of arrival.
Result<std::vector<NodeView>> read_node_views(std::string_view json);
// GET /api/v1/nodes/NAME.
Result<NodeView> read_node_view(std::string_view json);

// A pod as GET /standalone/pods returns it.
struct PodView {
  std::string ns;
  std::string name;
  std::string uid;
  std::string node;                        // "" while it is pending
  std::optional<PlacementNote> placement;  // the annotation chipweave.dev/placement
  std::map<std::string, std::string> annotations;
};
Result<PodView> read_pod_view(std::string_view json);

// GET /api/v1/pods, one item.
struct PodSummary {
  std::string ns;
  std::string name;
  std::string resource;  // the accelerator that it requests, "" if none
  int requested = 0;     // chips
  std::string state;     // of docs/develop/pod-states.md
  std::string node;
  std::vector<int> chips;
  double gbps = 0;
  double best_gbps = 0;
  std::string job;      // of its namespace, "" if none
  std::string gang;     // the same
  std::string reason;   // why it waits, or what is wrong where it runs; "" if nothing
  std::string created;  // RFC 3339; "" if not known
  bool node_stale = false;
  std::string json;  // the item as it was answered
};
Result<std::vector<PodSummary>> read_pod_summaries(std::string_view json);

// A gang as /api/v1/gangs shows it.
struct GangSlotView {
  int rank = 0;
  std::string pod;    // empty: it has not come
  std::string state;  // open, reserved, bound
  std::string node;
  std::vector<std::string> path;
  std::vector<int> chips;
};
struct GangSummary {
  std::string ns;
  std::string name;
  std::string framework;
  std::string state;
  int pods = 0;
  int bound = 0;
  int quorum = 0;
  std::string summary;  // what it waits for; empty: nothing
  std::string problem;
  std::string plan;  // id; empty: it has none
  double gbps = 0;   // 0: not predicted
  std::vector<GangSlotView> slots;
  std::vector<GangSlotView> spares;  // node, path and chips
};
Result<std::vector<GangSummary>> read_gang_summaries(std::string_view json);

// One page of a list.
struct AnswerPage {
  std::string items;      // JSON values, separated by commas
  std::string continues;  // token for the next page; empty: this was the last
};
Result<AnswerPage> read_answer_page(std::string_view json);

// ExtenderArgs of nodeCacheCapable schedulers: {"Pod":…,"Nodes":null,"NodeNames":[…]}. pod: the API
// server's JSON; kind and apiVersion are dropped, as in kube-scheduler's calls.
Result<std::string> write_extender_args(std::string_view pod,
                                        const std::vector<std::string>& nodes);
std::string write_binding_args(const std::string& ns, const std::string& name,
                               const std::string& uid, const std::string& node);

struct FilterReply {
  std::vector<std::string> nodes;
  std::map<std::string, std::string> failed;  // both maps of the answer: node → reason
  std::string error;
};
Result<FilterReply> read_filter_reply(std::string_view json);

struct HostScore {
  std::string host;
  int score = 0;
};
Result<std::vector<HostScore>> read_prioritize_reply(std::string_view json);
// The Error text; empty: bound.
Result<std::string> read_binding_reply(std::string_view json);

// {"error":"…"} or {"error":{"message":"…"}} or {"message":"…"} of a rejected call, otherwise the
// text itself, cut to one line.
std::string read_refusal(std::string_view body);

// The text under `key` of a JSON object, "" if there is none.
std::string read_text_key(std::string_view json, std::string_view key);

// The answer of /api/v1/explain as indented text: the summary first, then all other keys (also
// those unknown to this program), with long lists cut.
Result<std::string> explain_as_text(std::string_view json);

}  // namespace chipweave::codec
