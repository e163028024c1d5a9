#include "common/codec/kube/requests/volcano.hpp"

#include <utility>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/kube/pod/pod_stream.hpp"

namespace chipweave::codec {
namespace {

using namespace json_stream;

void read_task(od::value value, const VolcanoReader::Known& known, VolcanoTask& task) {
  task = VolcanoTask{};
  const bool given = each_member("task", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "uid")) return read_name("task.UID", v, task.uid);
    if (is_key(key, "name")) return read_name("task.Name", v, task.name);
    if (is_key(key, "namespace")) return read_name("task.Namespace", v, task.ns);
    if (is_key(key, "nodename")) return read_name("task.NodeName", v, task.node);
    if (is_key(key, "status")) {
      if (v.get_int64().get(task.status) != simdjson::SUCCESS)
        wrong_type("task.Status", "a whole number");
      return;
    }
    if (!is_key(key, "pod") || known(task)) return;
    task.pod_read = read_kube_pod(v, 3, task.pod);
  });
  if (!given) throw BadInput("task is missing");
  if (task.uid.empty() || task.name.empty()) throw BadInput("task.UID and task.Name must be given");
}

// The name of a NodeInfo; the other fields are skipped, or passed to on_field.
template <class F>
std::string_view read_node(od::value value, F&& on_field) {
  std::string_view name;
  if (!begin_object("node", value)) throw BadInput("node is missing");
  each_field(value.get_object(), [&](std::string_view key, od::value v) {
    if (!is_key(key, "name")) return on_field(key, v);
    if (v.type() != od::json_type::string) wrong_type("node.Name", "a string");
    name = v.get_string();
  });
  if (name.empty()) throw BadInput("node.Name must be given");
  if (name.size() > limits::kMaxNameBytes)
    throw BadInput("node.Name is longer than " + std::to_string(limits::kMaxNameBytes) + " bytes");
  return name;
}

void read_idle(od::value value, StringMap& to) {
  each_member("node.Idle", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "scalarresources")) read_map("node.Idle.ScalarResources", v, true, to);
  });
}

VolcanoEvictee read_evictee(od::value value) {
  VolcanoEvictee to;
  if (!begin_object("evictees", value)) wrong_type("evictees", "a list of objects");
  od::object object = value.get_object();
  to.text = object.raw_json();
  object.reset();
  each_field(object, [&](std::string_view key, od::value v) {
    if (is_key(key, "uid")) return read_name("evictees.UID", v, to.uid);
    if (is_key(key, "nodename")) read_name("evictees.NodeName", v, to.node);
  });
  return to;
}

[[noreturn]] void too_many(const char* what) {
  throw BadInput(std::string("more ") + what + " than the limit of " +
                 std::to_string(limits::kMaxNodes));
}

}  // namespace

struct VolcanoReader::Impl {
  od::parser parser;
  od::document document;

  // on_field: for keys besides `who`.
  template <class F>
  Result<void> read(std::string& body, std::string_view who, const Known& known, VolcanoTask& task,
                    F&& on_field) {
    bool given = false;
    auto done = read_document(parser, document, body, [&](std::string_view key, od::value v) {
      if (!is_key(key, who)) return on_field(key, v);
      given = true;
      read_task(v, known, task);
    });
    if (done && !given)
      return make_error(Errc::invalid_argument, std::string(who) + " is missing in the request");
    return done;
  }
};

VolcanoReader::VolcanoReader() : impl_(std::make_unique<Impl>()) {}
VolcanoReader::~VolcanoReader() = default;

double VolcanoNode::idle_of(std::string_view resource) const {
  const auto it = idle.find(resource);
  return it == idle.end() ? 0 : parse_number<double>(it->second).value_or(0);
}

Result<void> VolcanoReader::read_predicate(std::string& body, const Known& known, VolcanoTask& task,
                                           VolcanoNode& node) {
  node = VolcanoNode{};
  auto done = impl_->read(body, "task", known, task, [&](std::string_view key, od::value v) {
    if (!is_key(key, "node")) return;
    node.name = read_node(v, [&](std::string_view inner, od::value w) {
      if (is_key(inner, "idle")) read_idle(w, node.idle);
    });
  });
  if (done && node.name.empty())
    return make_error(Errc::invalid_argument, "node is missing in the request");
  return done;
}

Result<void> VolcanoReader::read_prioritize(std::string& body, const Known& known,
                                            VolcanoTask& task,
                                            std::vector<std::string_view>& nodes) {
  nodes.clear();
  return impl_->read(body, "task", known, task, [&](std::string_view key, od::value v) {
    if (!is_key(key, "nodes")) return;
    nodes.clear();
    each_element("nodes", v, [&](od::value node) {
      nodes.push_back(read_node(node, [](std::string_view, od::value) {}));
      if (nodes.size() > limits::kMaxNodes) too_many("nodes");
    });
  });
}

Result<void> VolcanoReader::read_event(std::string& body, const Known& known, VolcanoTask& task) {
  return impl_->read(body, "task", known, task, [](std::string_view, od::value) {});
}

Result<void> VolcanoReader::read_eviction(std::string& body, const Known& known,
                                          VolcanoTask& evictor,
                                          std::vector<VolcanoEvictee>& evictees) {
  evictees.clear();
  return impl_->read(body, "evictor", known, evictor, [&](std::string_view key, od::value v) {
    if (!is_key(key, "evictees")) return;
    evictees.clear();
    each_element("evictees", v, [&](od::value evictee) {
      evictees.push_back(read_evictee(evictee));
      if (evictees.size() > limits::kMaxNodes) too_many("evictees");
    });
  });
}

}  // namespace chipweave::codec
