#include "common/codec/kube/requests/extender.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/kube/pod/pod_stream.hpp"

namespace chipweave::codec {
namespace {

using namespace json_stream;

// Without copies as long as no name contains an escape.
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

  // One Node: its name, and its bytes as sent.
  void read_node(od::value value, ExtenderArgs& to) {
    std::string_view name;
    static constexpr char kNoName[ExtenderArgs::kReadable] = R"("")";
    std::string_view token(kNoName, 2);
    const char* const begin = std::string_view(value.raw_json_token()).data();
    if (!begin_object("Nodes.items", value)) wrong_type("Nodes.items", "a list of objects");
    each_field(value.get_object(), [&](std::string_view key, od::value v) {
      if (!is_key(key, "metadata")) return check(v, 4);
      each_member("metadata", v, [&](std::string_view inner, od::value w) {
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

  // Victims and MetaVictims differ in the place of the uid: metadata.uid or UID.
  void read_victims(od::value value, PreemptionNode& to) {
    each_member("victims", value, [&](std::string_view key, od::value v) {
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
    const bool given = each_member("victim", value, [&](std::string_view key, od::value v) {
      if (is_key(key, "uid")) return read_string("UID", v, uid);
      if (!is_key(key, "metadata")) return check(v, 6);
      each_member("metadata", v, [&](std::string_view inner, od::value w) {
        if (is_key(inner, "uid")) return read_string("metadata.uid", w, uid);
        check(w, 7);
      });
    });
    if (!given) wrong_type("Pods", "a list of objects");
    to.victim_uids.push_back(std::move(uid));
  }

  void read_victim_map(od::value value, std::vector<PreemptionNode>& to) {
    to.clear();
    each_member("node map", value, [&](std::string_view key, od::value v) {
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
  auto done =
      read_document(impl_->parser, impl_->document, body, [&](std::string_view key, od::value v) {
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
  // both given: the scheduler reads back NodeNames, and the items may be in another order
  if (to.names_given && to.nodes_given) to.nodes_given = false;
  return {};
}

Result<ExtenderBindingArgs> ExtenderReader::read_binding(std::string& body) {
  ExtenderBindingArgs to;
  auto done =
      read_document(impl_->parser, impl_->document, body, [&](std::string_view key, od::value v) {
        if (is_key(key, "podname")) return read_name("PodName", v, to.pod_name);
        if (is_key(key, "podnamespace")) return read_name("PodNamespace", v, to.pod_namespace);
        if (is_key(key, "poduid")) return read_name("PodUID", v, to.pod_uid);
        if (is_key(key, "node")) return read_name("Node", v, to.node);
        check(v, 1);
      });
  if (!done) return std::move(done).error();
  if (to.pod_name.empty() || to.node.empty()) {
    return make_error(Errc::invalid_argument, "PodName and Node must be given");
  }
  return to;
}

Result<ExtenderPreemptionArgs> ExtenderReader::read_preemption(std::string& body) {
  ExtenderPreemptionArgs to;
  bool pod_given = false;
  std::vector<PreemptionNode> victims;
  std::vector<PreemptionNode> meta;
  auto done =
      read_document(impl_->parser, impl_->document, body, [&](std::string_view key, od::value v) {
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
