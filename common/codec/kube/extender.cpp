#include "common/codec/kube/extender.hpp"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "common/base/limits.hpp"

namespace chipweave::codec {
namespace {

namespace od = simdjson::ondemand;

// What is wrong with a document, inside this file only: codec functions turn it into an Error at
// their end.
struct BadInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

bool is_key(std::string_view key, std::string_view wanted_lower) {
  return key.size() == wanted_lower.size() &&
         std::equal(key.begin(), key.end(), wanted_lower.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + ('a' - 'A')) : a) == b;
         });
}

std::string_view token_of(od::value& value) {
  std::string_view token = value.raw_json_token();
  while (!token.empty() && (token.back() == ' ' || token.back() == '\n' || token.back() == '\r' ||
                            token.back() == '\t')) {
    token.remove_suffix(1);
  }
  return token;
}

bool is_null(od::value& value) { return token_of(value) == "null"; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// JSON's number grammar; On Demand itself looks at a number only when it is converted.
bool is_number(std::string_view t) {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t from = i;
    while (i < t.size() && is_digit(t[i])) ++i;
    return i - from;
  };
  if (i < t.size() && t[i] == '-') ++i;
  const std::size_t lead = i;
  const std::size_t whole = digits();
  if (whole == 0 || (whole > 1 && t[lead] == '0')) return false;
  if (i < t.size() && t[i] == '.') {
    ++i;
    if (digits() == 0) return false;
  }
  if (i < t.size() && (t[i] == 'e' || t[i] == 'E')) {
    ++i;
    if (i < t.size() && (t[i] == '-' || t[i] == '+')) ++i;
    if (digits() == 0) return false;
  }
  return i == t.size();
}

// Every callback sees (key, value); the key is a view that dies with the next string read.
template <class F>
void each_field(od::object object, F&& on_field) {
  for (auto field : object) {
    const std::string_view key = field.unescaped_key();
    od::value value = field.value();
    on_field(key, value);
  }
}

// Walks what is skipped, so that broken JSON is an error wherever it stands (as Go's decoder has
// it).
void check(od::value value, int depth) {
  if (depth > limits::kMaxJsonDepth) throw BadInput("JSON is nested too deeply");
  switch (value.type()) {
    case od::json_type::object:
      each_field(value.get_object(), [&](std::string_view, od::value v) { check(v, depth + 1); });
      return;
    case od::json_type::array:
      for (auto element : value.get_array()) check(element.value(), depth + 1);
      return;
    case od::json_type::string: {
      const std::string_view ignored = value.get_string();
      static_cast<void>(ignored);
      return;
    }
    case od::json_type::number:
    case od::json_type::boolean:
    case od::json_type::null: {
      const std::string_view token = token_of(value);
      if (token != "null" && token != "true" && token != "false" && !is_number(token)) {
        throw BadInput("'" + std::string(token.substr(0, 40)) + "' is no JSON value");
      }
      return;
    }
  }
}

[[noreturn]] void wrong_type(std::string_view key, const char* wanted) {
  throw BadInput(std::string(key) + " must be " + wanted);
}

// null leaves the empty value, as in Go.
void read_string(std::string_view key, od::value value, std::string& to) {
  to.clear();
  if (is_null(value)) return;
  if (value.type() != od::json_type::string) wrong_type(key, "a string");
  to = std::string_view(value.get_string());
}

bool begin_object(std::string_view key, od::value& value) {
  if (is_null(value)) return false;
  if (value.type() != od::json_type::object) wrong_type(key, "an object");
  return true;
}

bool begin_array(std::string_view key, od::value& value) {
  if (is_null(value)) return false;
  if (value.type() != od::json_type::array) wrong_type(key, "a list");
  return true;
}

void read_map(const char* name, od::value value, bool numbers, StringMap& to) {
  to.clear();
  if (!begin_object(name, value)) return;
  each_field(value.get_object(), [&](std::string_view key, od::value v) {
    std::string& slot = to[std::string(key)];
    if (v.type() == od::json_type::string) {
      slot = std::string_view(v.get_string());
    } else if (numbers && is_number(token_of(v))) {
      slot = token_of(v);
    } else if (is_null(v)) {
      slot.clear();
    } else {
      wrong_type(name, "a map of strings");
    }
  });
}

KubeContainer read_container(od::value value, int depth) {
  KubeContainer c;
  if (!begin_object("container", value)) return c;
  std::string restart_policy;
  each_field(value.get_object(), [&](std::string_view key, od::value v) {
    if (is_key(key, "name")) return read_string("container name", v, c.name);
    if (is_key(key, "restartpolicy")) return read_string("restartPolicy", v, restart_policy);
    if (!is_key(key, "resources")) return check(v, depth + 1);
    c.requests.clear();
    c.limits.clear();
    if (!begin_object("resources", v)) return;
    each_field(v.get_object(), [&](std::string_view inner, od::value w) {
      if (is_key(inner, "requests")) return read_map("requests", w, true, c.requests);
      if (is_key(inner, "limits")) return read_map("limits", w, true, c.limits);
      check(w, depth + 2);
    });
  });
  c.sidecar = restart_policy == "Always";
  return c;
}

void read_containers(const char* name, od::value value, int depth, std::vector<KubeContainer>& to) {
  to.clear();
  if (!begin_array(name, value)) return;
  for (auto element : value.get_array()) to.push_back(read_container(element.value(), depth + 1));
}

void read_metadata(od::value value, int depth, KubePod& pod) {
  pod.name.clear();
  pod.ns.clear();
  pod.uid.clear();
  pod.labels.clear();
  pod.annotations.clear();
  if (!begin_object("metadata", value)) return;
  each_field(value.get_object(), [&](std::string_view key, od::value v) {
    if (is_key(key, "name")) return read_string("metadata.name", v, pod.name);
    if (is_key(key, "namespace")) return read_string("metadata.namespace", v, pod.ns);
    if (is_key(key, "uid")) return read_string("metadata.uid", v, pod.uid);
    if (is_key(key, "labels")) return read_map("metadata.labels", v, false, pod.labels);
    if (is_key(key, "annotations"))
      return read_map("metadata.annotations", v, false, pod.annotations);
    check(v, depth + 1);
  });
}

void read_spec(od::value value, int depth, KubePod& pod) {
  pod.node_name.clear();
  pod.init_containers.clear();
  pod.containers.clear();
  if (!begin_object("spec", value)) return;
  each_field(value.get_object(), [&](std::string_view key, od::value v) {
    if (is_key(key, "nodename")) return read_string("spec.nodeName", v, pod.node_name);
    if (is_key(key, "initcontainers")) {
      return read_containers("spec.initContainers", v, depth + 1, pod.init_containers);
    }
    if (is_key(key, "containers"))
      return read_containers("spec.containers", v, depth + 1, pod.containers);
    check(v, depth + 1);
  });
}

// False when the value is null.
bool read_kube_pod(od::value value, int depth, KubePod& pod) {
  pod = KubePod{};
  if (!begin_object("Pod", value)) return false;
  each_field(value.get_object(), [&](std::string_view key, od::value v) {
    if (is_key(key, "metadata")) return read_metadata(v, depth + 1, pod);
    if (is_key(key, "spec")) return read_spec(v, depth + 1, pod);
    if (!is_key(key, "status")) return check(v, depth + 1);
    pod.phase.clear();
    if (!begin_object("status", v)) return;
    each_field(v.get_object(), [&](std::string_view inner, od::value w) {
      if (is_key(inner, "phase")) return read_string("status.phase", w, pod.phase);
      check(w, depth + 2);
    });
  });
  return true;
}

// Without a copy, as long as no name holds an escape.
void read_names(od::value value, ExtenderArgs& to) {
  to.names.clear();
  to.tokens.clear();
  to.names_given = begin_array("NodeNames", value);
  if (!to.names_given) return;
  od::array array = value.get_array();
  for (auto element : array) {
    od::value v = element.value();
    std::string_view token = v.raw_json_token();
    if (token.front() != '"') wrong_type("NodeNames", "a list of strings");
    if (token.back() != '"') token = token_of(v);  // space before the comma
    to.names.push_back(token.substr(1, token.size() - 2));
    if (to.names.size() > limits::kMaxNodes) throw BadInput("more nodes than the limit of 20000");
  }
  if (to.names.empty()) return;
  const char* const begin = to.names.front().data();
  const char* const end = to.names.back().data() + to.names.back().size();
  if (std::memchr(begin, '\\', static_cast<std::size_t>(end - begin)) == nullptr) return;
  for (const std::string_view name : to.names) {
    to.tokens.emplace_back(name.data() - 1, name.size() + 2);
  }
  to.names.clear();
  array.reset();
  for (auto element : array) to.names.push_back(element.get_string());
}

}  // namespace

struct ExtenderReader::Impl {
  od::parser parser;
  od::document document;
  std::vector<std::string_view> node_names;  // of Nodes.items
  std::vector<std::string_view> node_tokens;

  // The whole protocol of a read: pads, parses, requires one object and nothing behind it.
  template <class F>
  Result<void> run(std::string& body, F&& on_field) {
    if (body.capacity() - body.size() < simdjson::SIMDJSON_PADDING) {
      body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
    }
    try {
      document =
          parser.iterate(simdjson::padded_string_view(body.data(), body.size(), body.capacity()));
      each_field(document.get_object(), on_field);
      const char* rest = nullptr;
      if (document.current_location().get(rest) == simdjson::SUCCESS) {
        throw BadInput("text after the end of the JSON value");
      }
      return {};
    } catch (const BadInput& e) {
      return make_error(Errc::invalid_argument, e.what());
    } catch (const simdjson::simdjson_error& e) {
      return make_error(Errc::invalid_argument, std::string("not valid JSON: ") + e.what());
    }
  }

  // One Node: its name, and the bytes it was sent as.
  void read_node(od::value value, ExtenderArgs& to) {
    std::string_view name;
    static constexpr char kNoName[ExtenderArgs::kReadable] = R"("")";
    std::string_view token(kNoName, 2);
    const char* const begin = std::string_view(value.raw_json_token()).data();
    if (!begin_object("Nodes.items", value)) wrong_type("Nodes.items", "a list of objects");
    each_field(value.get_object(), [&](std::string_view key, od::value v) {
      if (!is_key(key, "metadata")) return check(v, 4);
      if (!begin_object("metadata", v)) return;
      each_field(v.get_object(), [&](std::string_view inner, od::value w) {
        if (!is_key(inner, "name")) return check(w, 5);
        if (w.type() != od::json_type::string) wrong_type("Nodes.items.metadata.name", "a string");
        token = token_of(w);
        name = w.get_string();
      });
    });
    const char* end = document.current_location();
    while (end > begin && end[-1] != '}') --end;
    node_names.push_back(name);
    node_tokens.push_back(token);
    to.items.emplace_back(begin, static_cast<std::size_t>(end - begin));
    if (node_names.size() > limits::kMaxNodes) throw BadInput("more nodes than the limit of 20000");
  }

  void read_nodes(od::value value, ExtenderArgs& to) {
    node_names.clear();
    node_tokens.clear();
    to.items.clear();
    to.nodes_given = begin_object("Nodes", value);
    if (!to.nodes_given) return;
    each_field(value.get_object(), [&](std::string_view key, od::value v) {
      if (!is_key(key, "items")) return check(v, 2);
      node_names.clear();
      node_tokens.clear();
      to.items.clear();
      if (!begin_array("Nodes.items", v)) return;
      for (auto element : v.get_array()) read_node(element.value(), to);
    });
  }

  // Victims and MetaVictims differ in where the uid stands: metadata.uid or UID.
  void read_victims(od::value value, PreemptionNode& to) {
    if (!begin_object("victims", value)) return;
    each_field(value.get_object(), [&](std::string_view key, od::value v) {
      if (is_key(key, "numpdbviolations")) {
        to.pdb_violations = is_null(v) ? 0 : std::int64_t{v.get_int64()};
        return;
      }
      if (!is_key(key, "pods")) return check(v, 4);
      to.victim_uids.clear();
      if (!begin_array("Pods", v)) return;
      for (auto element : v.get_array()) read_victim(element.value(), to);
    });
  }

  void read_victim(od::value value, PreemptionNode& to) {
    std::string uid;
    if (!begin_object("victim", value)) wrong_type("Pods", "a list of objects");
    each_field(value.get_object(), [&](std::string_view key, od::value v) {
      if (is_key(key, "uid")) return read_string("UID", v, uid);
      if (!is_key(key, "metadata")) return check(v, 6);
      if (!begin_object("metadata", v)) return;
      each_field(v.get_object(), [&](std::string_view inner, od::value w) {
        if (is_key(inner, "uid")) return read_string("metadata.uid", w, uid);
        check(w, 7);
      });
    });
    to.victim_uids.push_back(std::move(uid));
  }

  void read_victim_map(od::value value, std::vector<PreemptionNode>& to) {
    to.clear();
    if (!begin_object("node map", value)) return;
    each_field(value.get_object(), [&](std::string_view key, od::value v) {
      PreemptionNode node;
      node.node = key;
      read_victims(v, node);
      if (to.size() >= limits::kMaxNodes) throw BadInput("more nodes than the limit of 20000");
      to.push_back(std::move(node));
    });
  }
};

ExtenderReader::ExtenderReader() : impl_(std::make_unique<Impl>()) {}
ExtenderReader::~ExtenderReader() = default;

Result<void> ExtenderReader::read_args(std::string& body, ExtenderArgs& to) {
  to.names_given = to.nodes_given = false;
  to.names.clear();
  to.tokens.clear();
  to.items.clear();
  bool pod_given = false;
  auto done = impl_->run(body, [&](std::string_view key, od::value v) {
    if (is_key(key, "pod")) {
      pod_given = read_kube_pod(v, 1, to.pod);
    } else if (is_key(key, "nodenames")) {
      read_names(v, to);
    } else if (is_key(key, "nodes")) {
      impl_->read_nodes(v, to);
    } else {
      check(v, 1);
    }
  });
  if (!done) return done;
  if (!pod_given) return make_error(Errc::invalid_argument, "Pod is missing in the request");
  if (!to.names_given && to.nodes_given) {
    to.names.swap(impl_->node_names);
    to.tokens.swap(impl_->node_tokens);
  }
  // both given: NodeNames is what the scheduler reads back, the items would not match it by order
  if (to.names_given && to.nodes_given) to.nodes_given = false;
  return {};
}

Result<ExtenderBindingArgs> ExtenderReader::read_binding(std::string& body) {
  ExtenderBindingArgs to;
  auto done = impl_->run(body, [&](std::string_view key, od::value v) {
    if (is_key(key, "podname")) return read_string("PodName", v, to.pod_name);
    if (is_key(key, "podnamespace")) return read_string("PodNamespace", v, to.pod_namespace);
    if (is_key(key, "poduid")) return read_string("PodUID", v, to.pod_uid);
    if (is_key(key, "node")) return read_string("Node", v, to.node);
    check(v, 1);
  });
  if (!done) return std::move(done).error();
  if (to.pod_name.empty() || to.node.empty()) {
    return make_error(Errc::invalid_argument, "PodName and Node must be given");
  }
  for (const auto& [key, value] :
       {std::pair<const char*, const std::string&>("PodName", to.pod_name),
        {"PodNamespace", to.pod_namespace},
        {"PodUID", to.pod_uid},
        {"Node", to.node}}) {
    if (value.size() <= limits::kMaxNameBytes) continue;
    return make_error(Errc::invalid_argument, std::string(key) + " is longer than " +
                                                  std::to_string(limits::kMaxNameBytes) + " bytes");
  }
  return to;
}

Result<ExtenderPreemptionArgs> ExtenderReader::read_preemption(std::string& body) {
  ExtenderPreemptionArgs to;
  bool pod_given = false;
  std::vector<PreemptionNode> victims;
  std::vector<PreemptionNode> meta;
  auto done = impl_->run(body, [&](std::string_view key, od::value v) {
    if (is_key(key, "pod")) {
      pod_given = read_kube_pod(v, 1, to.pod);
    } else if (is_key(key, "nodenametovictims")) {
      impl_->read_victim_map(v, victims);
    } else if (is_key(key, "nodenametometavictims")) {
      impl_->read_victim_map(v, meta);
    } else {
      check(v, 1);
    }
  });
  if (!done) return std::move(done).error();
  if (!pod_given) return make_error(Errc::invalid_argument, "Pod is missing in the request");
  to.nodes = meta.empty() ? std::move(victims) : std::move(meta);
  return to;
}

}  // namespace chipweave::codec
