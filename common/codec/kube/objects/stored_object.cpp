#include "common/codec/kube/objects/stored_object.hpp"

#include <utility>

#include "common/codec/json/stream_reader.hpp"

namespace chipweave::codec {
namespace {

using namespace json_stream;

void read_metadata(od::value value, StoredObject& to) {
  each_member("metadata", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "uid")) return read_string("metadata.uid", v, to.version.uid);
    if (is_key(key, "resourceversion"))
      return read_string("metadata.resourceVersion", v, to.version.resource_version);
    if (is_key(key, "labels")) return read_map("metadata.labels", v, false, to.labels);
    if (!is_key(key, "ownerreferences")) return check(v, 2);
    to.owners.clear();
    each_element("metadata.ownerReferences", v, [&](od::value owner) {
      std::string& uid = to.owners.emplace_back();
      each_member("ownerReferences", owner, [&](std::string_view inner, od::value w) {
        if (is_key(inner, "uid")) return read_string("ownerReferences.uid", w, uid);
        check(w, 4);
      });
    });
  });
}

void read_status(od::value value, StoredObject& to) {
  each_member("status", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "bootid")) return read_string("status.bootId", v, to.boot_id);
    if (!is_key(key, "sequence")) return check(v, 2);
    if (!is_null(v)) to.sequence = v.get_int64();
  });
}

}  // namespace

Result<StoredObject> read_stored_object(std::string& body) {
  StoredObject out;
  auto read = read_document(body, [&](std::string_view key, od::value v) {
    if (is_key(key, "metadata")) return read_metadata(v, out);
    if (is_key(key, "status")) return read_status(v, out);
    if (is_key(key, "data")) return read_map("data", v, false, out.data);
    check(v, 1);
  });
  if (!read) return std::move(read).error();
  if (out.version.uid.empty() || out.version.resource_version.empty()) {
    return make_error(Errc::invalid_argument,
                      "the object has no metadata.uid or no metadata.resourceVersion");
  }
  return out;
}

}  // namespace chipweave::codec
