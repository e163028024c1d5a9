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

std::string json_text_of(od::value value) {
  if (value.type() == od::json_type::object) {
    od::object object = value.get_object();
    return std::string(std::string_view(object.raw_json()));
  }
  if (value.type() != od::json_type::array) return std::string(token_of(value));
  od::array array = value.get_array();
  return std::string(std::string_view(array.raw_json()));
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
    to.spec = json_text_of(v);  // its own reader checks it
  });
}

}  // namespace chipweave::codec::json_stream
