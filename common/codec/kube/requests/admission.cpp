#include "common/codec/kube/requests/admission.hpp"

#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/codec/json/json_tree.hpp"
#include "common/codec/json/stream_reader.hpp"
#include "common/codec/kube/base64.hpp"
#include "common/codec/kube/requests/admission_frame.hpp"

namespace chipweave::codec {
namespace {

using namespace json_stream;

struct Seen {
  std::string operation;
  std::string resource;
  std::string subresource;
  std::string name;  // of the request; the Binding's own name takes precedence
  std::string ns;
};

void read_resource(od::value value, std::string& to) {
  to.clear();
  std::string group;
  each_member("request.resource", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "resource")) return read_string("request.resource.resource", v, to);
    if (is_key(key, "group")) return read_string("request.resource.group", v, group);
    check(v, 4);
  });
  if (!group.empty()) to = group + "/" + to;
}

void read_metadata(od::value value, BindingReview& to) {
  each_member("object.metadata", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "name")) return read_string("object.metadata.name", v, to.pod);
    if (is_key(key, "namespace")) return read_string("object.metadata.namespace", v, to.ns);
    if (is_key(key, "uid")) return read_string("object.metadata.uid", v, to.pod_uid);
    if (!is_key(key, "annotations")) return check(v, 5);
    read_map("object.metadata.annotations", v, false, to.annotations);
  });
}

void read_binding(od::value value, BindingReview& to) {
  each_member("object", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "metadata")) return read_metadata(v, to);
    if (!is_key(key, "target")) return check(v, 4);
    each_member("object.target", v, [&](std::string_view inner, od::value w) {
      if (is_key(inner, "name")) return read_string("object.target.name", w, to.node);
      check(w, 5);
    });
  });
}

void read_request(od::value value, BindingReview& to, Seen& seen) {
  if (!begin_object("request", value)) throw BadInput("request is missing");
  each_field(value.get_object(), [&](std::string_view key, od::value v) {
    if (is_key(key, "uid")) return read_string("request.uid", v, to.request_uid);
    if (is_key(key, "operation")) return read_string("request.operation", v, seen.operation);
    if (is_key(key, "resource")) return read_resource(v, seen.resource);
    if (is_key(key, "subresource")) return read_string("request.subResource", v, seen.subresource);
    if (is_key(key, "name")) return read_string("request.name", v, seen.name);
    if (is_key(key, "namespace")) return read_string("request.namespace", v, seen.ns);
    if (is_key(key, "object")) return read_binding(v, to);
    if (!is_key(key, "dryrun")) return check(v, 3);
    if (is_null(v)) return;
    if (v.type() != od::json_type::boolean) wrong_type("request.dryRun", "true or false");
    to.dry_run = v.get_bool();
  });
}

Result<void> check_lengths(const BindingReview& review) {
  using Row = std::pair<const char*, const std::string&>;
  for (const auto& [key, value] :
       {Row("request.uid", review.request_uid), Row("namespace", review.ns),
        Row("name", review.pod), Row("uid", review.pod_uid), Row("target.name", review.node)}) {
    if (value.size() <= limits::kMaxNameBytes) continue;
    return make_error(Errc::invalid_argument, std::string(key) + " is longer than " +
                                                  std::to_string(limits::kMaxNameBytes) + " bytes");
  }
  return {};
}

// `add` on the whole map would replace it; `add` on a key requires the map to exist, and the API
// server omits an empty one.
std::string patch_text(const BindingReview& review, const std::string& pod_uid,
                       const std::map<std::string, std::string>& annotations) {
  JsonWriter w;
  w.begin_array();
  if (review.pod_uid.empty() && !pod_uid.empty()) {
    w.begin_object().field("op", "add").field("path", "/metadata/uid").field("value", pod_uid);
    w.end_object();
  }
  if (annotations.empty()) {
    // nothing but the uid
  } else if (review.annotations.empty()) {
    w.begin_object().field("op", "add").field("path", "/metadata/annotations");
    w.key("value").string_map(annotations).end_object();
  } else {
    for (const auto& [key, value] : annotations) {
      w.begin_object().field("op", "add");
      w.field("path", "/metadata/annotations/" + JsonTree::escaped_step(key));
      w.field("value", value).end_object();
    }
  }
  w.end_array();
  return w.take();
}

}  // namespace

Result<BindingReview> read_binding_review(std::string& body) {
  BindingReview to;
  Seen seen;
  auto done = read_admission_frame(body, [&](od::value request) {
    to = BindingReview{};
    read_request(request, to, seen);
  });
  if (!done) return std::move(done).error();
  if (to.pod.empty()) to.pod = seen.name;
  if (to.ns.empty()) to.ns = seen.ns;
  if (auto ok = check_lengths(to); !ok) return std::move(ok).error();
  to.is_binding =
      seen.operation == "CREATE" && ((seen.resource == "pods" && seen.subresource == "binding") ||
                                     (seen.resource == "bindings" && seen.subresource.empty()));
  return to;
}

std::string write_allowed(const BindingReview& review, const std::string& pod_uid,
                          const std::map<std::string, std::string>& annotations) {
  std::map<std::string, std::string> news = annotations;
  std::erase_if(news, [&](const auto& entry) {
    const auto there = review.annotations.find(entry.first);
    return there != review.annotations.end() && there->second == entry.second;
  });
  JsonWriter w;
  begin_admission_answer(w, review.request_uid, true);
  if (!news.empty() || (review.pod_uid.empty() && !pod_uid.empty())) {
    w.field("patchType", "JSONPatch");
    w.field("patch", encode_base64(patch_text(review, pod_uid, news)));
  }
  w.end_object().end_object();
  return w.take();
}

std::string write_denied(std::string_view request_uid, int code, std::string_view message) {
  JsonWriter w;
  begin_admission_answer(w, request_uid, false);
  w.key("status").begin_object().key("code").integer(code).field("message", message).end_object();
  w.end_object().end_object();
  return w.take();
}

}  // namespace chipweave::codec
