#include "common/codec/kube/requests/pod_review.hpp"

#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/codec/json/stream_reader.hpp"
#include "common/codec/kube/base64.hpp"
#include "common/codec/kube/pod/pod_stream.hpp"
#include "common/codec/kube/requests/admission_frame.hpp"

namespace chipweave::codec {
namespace {

using namespace json_stream;

struct PodRequestSeen {
  std::string operation;
  std::string group;
  std::string resource;
  std::string subresource;
  std::string ns;
  std::string object;
};

void read_pod_resource(od::value value, PodRequestSeen& seen) {
  each_member("request.resource", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "resource")) return read_string("request.resource.resource", v, seen.resource);
    if (is_key(key, "group")) return read_string("request.resource.group", v, seen.group);
    check(v, 4);
  });
}

void read_pod_request(od::value value, PodReview& to, PodRequestSeen& seen) {
  if (!begin_object("request", value)) throw BadInput("request is missing");
  each_field(value.get_object(), [&](std::string_view key, od::value v) {
    if (is_key(key, "uid")) return read_name("request.uid", v, to.request_uid);
    if (is_key(key, "operation")) return read_string("request.operation", v, seen.operation);
    if (is_key(key, "resource")) return read_pod_resource(v, seen);
    if (is_key(key, "subresource")) return read_string("request.subResource", v, seen.subresource);
    if (is_key(key, "namespace")) return read_name("request.namespace", v, seen.ns);
    if (!is_key(key, "object") || is_null(v)) return check(v, 3);
    if (v.type() != od::json_type::object) wrong_type("request.object", "an object");
    od::object object = v.get_object();
    const std::string_view text = object.raw_json();
    seen.object = text;  // what it is may follow
  });
}

Result<void> read_new_pod(const std::string& object, KubePod& pod) {
  std::string text = R"({"object":)" + object + "}";  // the reader takes a member
  auto done = read_document(
      text, [&](std::string_view, od::value v) { static_cast<void>(read_kube_pod(v, 1, pod)); });
  return done ? Result<void>{} : std::move(done).error().in("request.object");
}

// One operation of a patch, up to its value.
void begin_addition(JsonWriter& w, const std::string& path) {
  w.begin_object().field("op", "add").field("path", path).key("value");
}

// An element of a list, which the API server leaves out while it is empty.
template <class Element>
void add_to_list(JsonWriter& w, const std::string& path, bool exists, const Element& element) {
  begin_addition(w, path + (exists ? "/-" : ""));
  if (!exists) w.begin_array();
  element();
  if (!exists) w.end_array();
  w.end_object();
}

class VariablePatch {
 public:
  VariablePatch(JsonWriter& w, const PodAdditions& additions) : w_(w), additions_(additions) {}

  Result<void> write(std::string& pod) {
    return read_document(pod, [&](std::string_view key, od::value v) {
      if (!is_key(key, "spec")) return check(v, 1);
      each_member("spec", v, [&](std::string_view inner, od::value w) {
        if (is_key(inner, "containers")) return containers("/spec/containers/", w);
        if (is_key(inner, "initcontainers")) return containers("/spec/initContainers/", w);
        check(w, 2);
      });
    });
  }

 private:
  void containers(const char* path, od::value list) {
    std::size_t index = 0;
    each_element("containers", list, [&](od::value one) {
      bool any = false;
      bool there = false;
      each_member("container", one, [&](std::string_view key, od::value v) {
        if (!is_key(key, "env")) return check(v, 4);
        each_element("env", v, [&](od::value variable) {
          any = true;
          there = is_ours(variable) || there;
        });
      });
      if (!there) add(path + std::to_string(index) + "/env", any);
      ++index;
    });
  }

  bool is_ours(od::value variable) const {
    std::string name;
    each_member("env", variable, [&](std::string_view key, od::value v) {
      if (is_key(key, "name")) return read_string("env.name", v, name);
      check(v, 6);
    });
    return name == additions_.variable;
  }

  void add(const std::string& path, bool exists) {
    add_to_list(w_, path, exists, [&] {
      w_.begin_object().field("name", additions_.variable).key("valueFrom").begin_object();
      w_.key("fieldRef").begin_object();
      w_.field("fieldPath",
               "metadata.annotations['" + std::string(additions_.from_annotation) + "']");
      w_.end_object().end_object().end_object();
    });
  }

  JsonWriter& w_;
  const PodAdditions& additions_;
};

}  // namespace

Result<PodReview> read_pod_review(std::string& body) {
  PodReview to;
  PodRequestSeen seen;
  auto done = read_admission_frame(body, [&](od::value request) {
    to = PodReview{};
    read_pod_request(request, to, seen);
  });
  if (!done) return std::move(done).error();
  if (seen.operation != "CREATE" || !seen.group.empty() || seen.resource != "pods" ||
      !seen.subresource.empty() || seen.object.empty())
    return to;
  if (auto read = read_new_pod(seen.object, to.pod); !read) return std::move(read).error();
  to.is_new_pod = true;
  if (to.pod.ns.empty()) to.pod.ns = std::move(seen.ns);
  to.object = std::move(seen.object);
  return to;
}

std::string write_pod_allowed(const PodReview& review) {
  JsonWriter w;
  begin_admission_answer(w, review.request_uid, true);
  return w.end_object().end_object().take();
}

Result<std::string> write_pod_allowed(PodReview& review, const PodAdditions& additions) {
  JsonWriter patch;
  patch.begin_array();
  add_to_list(patch, "/spec/schedulingGates", !review.pod.gates.empty(),
              [&] { patch.begin_object().field("name", additions.gate).end_object(); });
  if (!additions.variable.empty()) {
    if (auto ok = VariablePatch(patch, additions).write(review.object); !ok)
      return std::move(ok).error().in("request.object");
  }
  patch.end_array();
  JsonWriter w;
  begin_admission_answer(w, review.request_uid, true);
  w.field("patchType", "JSONPatch").field("patch", encode_base64(patch.take()));
  return w.end_object().end_object().take();
}

}  // namespace chipweave::codec
