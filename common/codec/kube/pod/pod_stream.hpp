// KubePod, and the metadata of any object, from a JSON stream (json/stream_reader.hpp). Internal to
// common/codec/kube.
#pragma once

#include <string>

#include "common/codec/json/stream_reader.hpp"
#include "common/codec/kube/pod/pod.hpp"
#include "common/codec/kube/rfc3339_time.hpp"

namespace chipweave::codec::json_stream {

// Those metadata that the object has a place for; the others go to `other`.
template <class Object, class Other>
void read_metadata(od::value value, Object& to, Other&& other) {
  each_member("metadata", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "name")) return read_string("metadata.name", v, to.name);
    if (is_key(key, "uid")) return read_string("metadata.uid", v, to.uid);
    if (is_key(key, "resourceversion"))
      return read_string("metadata.resourceVersion", v, to.resource_version);
    if constexpr (requires { to.ns; }) {
      if (is_key(key, "namespace")) return read_string("metadata.namespace", v, to.ns);
    }
    if constexpr (requires { to.ending; }) {
      if (is_key(key, "deletiontimestamp")) {
        std::string when;
        read_string("metadata.deletionTimestamp", v, when);
        to.ending = !when.empty();
        return;
      }
    }
    if constexpr (requires { to.created; }) {
      if (is_key(key, "creationtimestamp")) {
        std::string when;
        read_string("metadata.creationTimestamp", v, when);
        to.created = seconds_of(when);
        return;
      }
    }
    if constexpr (requires { to.labels; }) {
      if (is_key(key, "labels")) return read_map("metadata.labels", v, false, to.labels);
    }
    if constexpr (requires { to.finalizers; }) {
      if (is_key(key, "finalizers")) {
        to.finalizers.clear();
        each_element("metadata.finalizers", v, [&](od::value one) {
          read_string("metadata.finalizers", one, to.finalizers.emplace_back());
        });
        return;
      }
    }
    if constexpr (requires { to.annotations; }) {
      if (is_key(key, "annotations"))
        return read_map("metadata.annotations", v, false, to.annotations);
    }
    other(key, v);
  });
}
template <class Object>
void read_metadata(od::value value, int depth, Object& to) {
  read_metadata(value, to, [depth](std::string_view, od::value v) { check(v, depth + 1); });
}

// False when the value is null. If a key is repeated, the last one counts.
bool read_kube_pod(od::value value, int depth, KubePod& pod);

}  // namespace chipweave::codec::json_stream
