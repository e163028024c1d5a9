#include "common/codec/kube/gangs/gang_stream.hpp"

#include "common/codec/kube/pod/pod_stream.hpp"

namespace chipweave::codec::json_stream {
namespace {

void read_owner(od::value value, int depth, OwnerName& to) {
  bool controls = false;
  each_element("metadata.ownerReferences", value, [&](od::value one) {
    OwnerName owner;
    std::string version;
    bool controller = false;
    each_member("ownerReferences", one, [&](std::string_view key, od::value v) {
      if (is_key(key, "apiversion")) return read_string("apiVersion", v, version);
      if (is_key(key, "kind")) return read_string("kind", v, owner.kind);
      if (is_key(key, "name")) return read_string("name", v, owner.name);
      if (!is_key(key, "controller")) return check(v, depth + 2);
      controller = token_of(v) == "true";
    });
    const std::size_t slash = version.find('/');
    if (slash != std::string::npos) owner.group = version.substr(0, slash);
    if (controls || (!controller && !to.kind.empty())) return;
    controls = controller;
    to = std::move(owner);
  });
}

}  // namespace

bool read_gang_object(od::value value, int depth, KubeGangObject& to) {
  to = KubeGangObject{};
  return each_member("object", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "metadata")) {
      to.owner = {};
      return read_metadata(v, to, [&](std::string_view inner, od::value w) {
        if (is_key(inner, "ownerreferences")) return read_owner(w, depth + 2, to.owner);
        check(w, depth + 2);
      });
    }
    if (!is_key(key, "spec")) return check(v, depth + 1);
    if (!begin_object("spec", v)) return;
    od::object spec = v.get_object();
    to.spec = std::string_view(spec.raw_json());  // its own reader checks it
  });
}

}  // namespace chipweave::codec::json_stream
