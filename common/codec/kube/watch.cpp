#include "common/codec/kube/watch.hpp"

#include <algorithm>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/codec/kube/dra/claim_stream.hpp"
#include "common/codec/kube/gangs/gang_stream.hpp"
#include "common/codec/kube/pod/pod_stream.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

using namespace json_stream;

constexpr const char* kInitialEnd = "k8s.io/initial-events-end";

bool read_object(od::value value, int depth, KubePod& to) {
  return read_kube_pod(value, depth, to);
}

bool read_object(od::value value, int depth, KubeNodeMetadata& to) {
  to = KubeNodeMetadata{};
  return each_member("Node", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "metadata")) return read_metadata(v, depth + 1, to);
    check(v, depth + 1);
  });
}

std::optional<std::string> read_rank_table_folder(od::value volumes, int depth) {
  std::optional<std::string> out;
  each_element("spec.volumes", volumes, [&](od::value one) {
    std::string name;
    std::optional<std::string> folder;
    each_member("volumes", one, [&](std::string_view key, od::value v) {
      if (is_key(key, "name")) return read_string("volumes.name", v, name);
      if (!is_key(key, "hostpath")) return check(v, depth + 2);
      each_member("hostPath", v, [&](std::string_view inner, od::value w) {
        if (!is_key(inner, "path")) return check(w, depth + 3);
        read_string("hostPath.path", w, folder.emplace());
      });
    });
    if (name == kRankTableVolume) out = std::move(folder);
  });
  return out;
}

bool read_object(od::value value, int depth, KubeRankTablePod& to) {
  to = KubeRankTablePod{};
  return each_member("Pod", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "metadata")) return read_metadata(v, depth + 1, to);
    const bool spec = is_key(key, "spec");
    if (!spec && !is_key(key, "status")) return check(v, depth + 1);
    each_member(spec ? "spec" : "status", v, [&](std::string_view inner, od::value w) {
      if (spec && is_key(inner, "nodename")) return read_string("spec.nodeName", w, to.node);
      if (spec && is_key(inner, "volumes")) {
        to.folder = read_rank_table_folder(w, depth + 2);
        return;
      }
      if (spec || !is_key(inner, "phase")) return check(w, depth + 2);
      std::string phase;
      read_string("status.phase", w, phase);
      to.ended = phase == "Succeeded" || phase == "Failed";
    });
  });
}

void read_node_spec(od::value value, int depth, KubeNode& to) {
  to.taints.clear();
  to.unschedulable = false;
  each_member("spec", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "unschedulable")) {
      to.unschedulable = token_of(v) == "true";
      return;
    }
    if (!is_key(key, "taints")) return check(v, depth + 1);
    each_element("spec.taints", v, [&](od::value one) {
      domain::NodeTaint& taint = to.taints.emplace_back();
      each_member("taints", one, [&](std::string_view inner, od::value w) {
        if (is_key(inner, "key")) return read_string("key", w, taint.key);
        if (is_key(inner, "value")) return read_string("value", w, taint.value);
        if (is_key(inner, "effect")) return read_string("effect", w, taint.effect);
        check(w, depth + 3);
      });
    });
  });
}

void read_addresses(od::value value, int depth, std::string& to) {
  to.clear();
  each_element("status.addresses", value, [&](od::value one) {
    std::string type;
    std::string address;
    each_member("addresses", one, [&](std::string_view key, od::value v) {
      if (is_key(key, "type")) return read_string("type", v, type);
      if (is_key(key, "address")) return read_string("address", v, address);
      check(v, depth + 2);
    });
    if (to.empty() && type == "InternalIP") to = std::move(address);
  });
}

bool read_object(od::value value, int depth, KubeNode& to) {
  to = KubeNode{};
  return each_member("Node", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "metadata")) return read_metadata(v, depth + 1, to);
    if (is_key(key, "spec")) return read_node_spec(v, depth + 1, to);
    if (!is_key(key, "status")) return check(v, depth + 1);
    each_member("status", v, [&](std::string_view inner, od::value w) {
      if (is_key(inner, "addresses")) return read_addresses(w, depth + 2, to.address);
      if (!is_key(inner, "allocatable")) return check(w, depth + 2);
      StringMap amounts;
      read_map("status.allocatable", w, true, amounts);
      to.cpu = std::move(amounts["cpu"]);
      to.memory = std::move(amounts["memory"]);
    });
  });
}

bool read_object(od::value value, int depth, KubeInventory& to) {
  to = KubeInventory{};
  return each_member("NodeInventory", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "metadata")) return read_metadata(v, depth + 1, to);
    if (!is_key(key, "status")) return check(v, depth + 1);
    if (!begin_object("status", v)) return;
    od::object status = v.get_object();
    to.status = std::string_view(status.raw_json());  // its own reader checks it
  });
}

bool read_object(od::value value, int depth, KubeDocument& to) {
  to = KubeDocument{};
  return each_member("object", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "metadata")) return read_metadata(v, depth + 1, to);
    const bool spec = is_key(key, "spec");
    if (!spec && !is_key(key, "data")) return check(v, depth + 1);
    if (!begin_object(spec ? "spec" : "data", v)) return;
    od::object part = v.get_object();
    (spec ? to.spec : to.data) = std::string_view(part.raw_json());  // its own reader checks it
  });
}

// null leaves the value unchanged.
void read_integer(od::value value, std::int64_t& to) {
  if (!is_null(value)) to = value.get_int64();
}

bool read_object(od::value value, int depth, KubeLease& to) {
  to = KubeLease{};
  return each_member("Lease", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "metadata")) return read_metadata(v, depth + 1, to);
    if (!is_key(key, "spec")) return check(v, depth + 1);
    each_member("spec", v, [&](std::string_view inner, od::value w) {
      if (is_key(inner, "holderidentity")) return read_string("holderIdentity", w, to.holder);
      if (is_key(inner, "leasedurationseconds")) return read_integer(w, to.duration_seconds);
      if (is_key(inner, "leasetransitions")) return read_integer(w, to.transitions);
      check(w, depth + 2);
    });
  });
}

bool read_object(od::value value, int depth, KubeConfigMap& to) {
  to = KubeConfigMap{};
  return each_member("ConfigMap", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "metadata")) return read_metadata(v, depth + 1, to);
    if (is_key(key, "data")) return read_map("data", v, false, to.data);
    check(v, depth + 1);
  });
}

bool read_object(od::value value, int depth, KubeClaim& to) {
  return read_kube_claim(value, depth, to);
}

bool read_object(od::value value, int depth, KubeGangObject& to) {
  return read_gang_object(value, depth, to);
}

bool read_object(od::value value, int depth, KubeDeviceClass& to) {
  return read_device_class(value, depth, to);
}

std::string read_attribute(od::value value) {
  std::string out;
  each_member("attributes", value, [&](std::string_view key, od::value v) {
    std::string text;
    if (is_key(key, "string")) {
      read_string("string", v, text);
      out = "s:" + text;
    } else if (is_key(key, "version")) {
      read_string("version", v, text);
      out = "v:" + text;
    } else if (is_key(key, "int") || is_key(key, "bool")) {
      out = (is_key(key, "int") ? "i:" : "b:") + std::string(token_of(v));
    } else {
      check(v, 7);
    }
  });
  return out;
}

void read_attributes(od::value value, SliceDevice& to) {
  each_member("attributes", value, [&](std::string_view name, od::value v) {
    const std::string key(name);
    std::string attribute = read_attribute(v);
    const bool text = attribute.starts_with("s:");
    // Kubernetes' own name for the address, and those of drivers, which may leave out their domain.
    if (text && (key == "pciBusID" || key == "resource.kubernetes.io/pciBusID"))
      to.pci = attribute.substr(2);
    if (text && key == "uuid") to.uuid = attribute.substr(2);
    if (!attribute.empty()) to.attributes[key] = std::move(attribute);
  });
}

bool has_managed_taint(od::value value) {
  bool managed = false;
  each_element("taints", value, [&](od::value one) {
    std::string key_of_taint;
    std::string effect;
    each_member("taints", one, [&](std::string_view key, od::value v) {
      if (is_key(key, "key")) return read_string("key", v, key_of_taint);
      if (is_key(key, "effect")) return read_string("effect", v, effect);
      check(v, 7);
    });
    const bool keeps_others_off = effect == "NoSchedule" || effect == "NoExecute";
    managed = managed || (key_of_taint == kManagedTaint && keeps_others_off);
  });
  return managed;
}

void read_slice_devices(od::value value, std::vector<SliceDevice>& to) {
  to.clear();
  each_element("spec.devices", value, [&](od::value one) {
    SliceDevice device;
    each_member("devices", one, [&](std::string_view key, od::value v) {
      if (is_key(key, "name")) return read_string("name", v, device.name);
      if (is_key(key, "attributes")) return read_attributes(v, device);
      if (!is_key(key, "taints")) return check(v, 5);
      device.managed = has_managed_taint(v);
    });
    if (!device.name.empty()) to.push_back(std::move(device));
  });
}

bool read_object(od::value value, int depth, KubeSlice& to) {
  to = KubeSlice{};
  return each_member("ResourceSlice", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "metadata")) return read_metadata(v, depth + 1, to);
    if (!is_key(key, "spec")) return check(v, depth + 1);
    each_member("spec", v, [&](std::string_view inner, od::value w) {
      if (is_key(inner, "driver")) return read_string("driver", w, to.driver);
      if (is_key(inner, "nodename")) return read_string("nodeName", w, to.node);
      if (is_key(inner, "devices")) return read_slice_devices(w, to.devices);
      if (!is_key(inner, "pool")) return check(w, depth + 2);
      each_member("pool", w, [&](std::string_view in_pool, od::value x) {
        if (is_key(in_pool, "name")) return read_string("pool.name", x, to.pool);
        if (is_key(in_pool, "generation")) return read_integer(x, to.generation);
        check(x, depth + 3);
      });
    });
  });
}

struct Bookmark {
  std::string resource_version;
  bool initial_end = false;
};

void read_bookmark(od::value value, Bookmark& to) {
  to = Bookmark{};
  each_member("object", value, [&](std::string_view key, od::value v) {
    if (!is_key(key, "metadata")) return check(v, 2);
    each_member("metadata", v, [&](std::string_view inner, od::value w) {
      if (is_key(inner, "resourceversion"))
        return read_string("metadata.resourceVersion", w, to.resource_version);
      if (!is_key(inner, "annotations")) return check(w, 3);
      StringMap annotations;
      read_map("metadata.annotations", w, false, annotations);
      const auto end = annotations.find(kInitialEnd);
      to.initial_end = end != annotations.end() && end->second == "true";
    });
  });
}

void read_details(od::value value, KubeStatus& to) {
  each_member("details", value, [&](std::string_view key, od::value v) {
    if (!is_key(key, "causes")) return check(v, 3);
    each_element("details.causes", v, [&](od::value cause) {
      each_member("causes", cause, [&](std::string_view inner, od::value w) {
        if (!is_key(inner, "reason") || !to.cause.empty()) return check(w, 5);
        read_string("reason", w, to.cause);
      });
    });
  });
}

void read_status_field(std::string_view key, od::value value, KubeStatus& to) {
  if (is_key(key, "reason")) return read_string("reason", value, to.reason);
  if (is_key(key, "message")) {
    read_string("message", value, to.message);
    to.message = without_secrets(to.message);
    return;
  }
  if (is_key(key, "details")) return read_details(value, to);
  if (!is_key(key, "code")) return check(value, 2);
  if (is_null(value)) return;
  const std::int64_t code = value.get_int64();
  if (code < 0 || code > 999) wrong_type("code", "an HTTP status");
  to.code = static_cast<int>(code);
}

WatchKind kind_of(std::string_view type) {
  if (type == "ADDED") return WatchKind::added;
  if (type == "MODIFIED") return WatchKind::modified;
  if (type == "DELETED") return WatchKind::deleted;
  if (type == "BOOKMARK") return WatchKind::bookmark;
  if (type == "ERROR") return WatchKind::error;
  throw BadInput("unknown type of watch event " + quoted_excerpt(type) +
                 "; known: ADDED, MODIFIED, DELETED, BOOKMARK, ERROR");
}

}  // namespace

template <class Object>
struct WatchReader<Object>::Impl {
  od::parser parser;
  od::document document;
};

template <class Object>
WatchReader<Object>::WatchReader() : impl_(std::make_unique<Impl>()) {}
template <class Object>
WatchReader<Object>::~WatchReader() = default;

template <class Object>
Result<ListPage<Object>> WatchReader<Object>::read_page(std::string& body) {
  ListPage<Object> page;
  auto read =
      read_document(impl_->parser, impl_->document, body, [&](std::string_view key, od::value v) {
        if (is_key(key, "metadata")) {
          each_member("metadata", v, [&](std::string_view inner, od::value w) {
            if (is_key(inner, "resourceversion"))
              return read_string("metadata.resourceVersion", w, page.resource_version);
            if (is_key(inner, "continue")) return read_string("metadata.continue", w, page.next);
            check(w, 2);
          });
          return;
        }
        if (!is_key(key, "items")) return check(v, 1);
        page.objects.clear();
        each_element("items", v, [&](od::value element) {
          Object object;
          if (!read_object(element, 2, object)) wrong_type("items", "a list of objects");
          page.objects.push_back(std::move(object));
        });
      });
  if (!read) return std::move(read).error();
  if (page.resource_version.empty()) {
    return make_error(Errc::invalid_argument, "the list has no metadata.resourceVersion");
  }
  return page;
}

// The API server's encoder always writes the type first; it determines how the object is read.
template <class Object>
Result<WatchEvent<Object>> WatchReader<Object>::read_event(std::string& line) {
  WatchEvent<Object> event;
  bool typed = false;
  bool given = false;
  Bookmark bookmark;
  auto read =
      read_document(impl_->parser, impl_->document, line, [&](std::string_view key, od::value v) {
        if (is_key(key, "type")) {
          std::string type;
          read_string("type", v, type);
          event.kind = kind_of(type);
          typed = true;
          return;
        }
        if (!is_key(key, "object")) return check(v, 1);
        if (!typed) throw BadInput("the type of an event must come before its object");
        switch (event.kind) {
          case WatchKind::bookmark:
            read_bookmark(v, bookmark);
            break;
          case WatchKind::error:
            event.status = {};
            each_member("object", v, [&](std::string_view inner, od::value w) {
              read_status_field(inner, w, event.status);
            });
            break;
          case WatchKind::added:
          case WatchKind::modified:
          case WatchKind::deleted:
            if (!read_object(v, 1, event.object)) return;
            break;
        }
        given = true;
      });
  if (!read) return std::move(read).error();
  if (!given) return make_error(Errc::invalid_argument, "the event has no type or no object");
  event.initial_end = bookmark.initial_end;
  event.resource_version = event.kind == WatchKind::bookmark ? std::move(bookmark.resource_version)
                                                             : event.object.resource_version;
  if (event.kind != WatchKind::error && event.resource_version.empty()) {
    return make_error(Errc::invalid_argument, "the event's object has no metadata.resourceVersion");
  }
  return event;
}

template <class Object>
Result<Object> WatchReader<Object>::read_one(std::string& body) {
  // read as an event without a type, so that objects are read in one place
  body.insert(0, R"({"type":"ADDED","object":)");
  body += '}';
  auto event = read_event(body);
  if (!event) return std::move(event).error();
  return std::move(event->object);
}

template class WatchReader<KubePod>;
template class WatchReader<KubeRankTablePod>;
template class WatchReader<KubeNode>;
template class WatchReader<KubeNodeMetadata>;
template class WatchReader<KubeInventory>;
template class WatchReader<KubeLease>;
template class WatchReader<KubeConfigMap>;
template class WatchReader<KubeClaim>;
template class WatchReader<KubeSlice>;
template class WatchReader<KubeDeviceClass>;
template class WatchReader<KubeGangObject>;
template class WatchReader<KubeDocument>;

KubeStatus read_status(std::string& body) {
  constexpr std::size_t kMaxText = 200;
  KubeStatus status;
  const auto read = read_document(
      body, [&](std::string_view key, od::value v) { read_status_field(key, v, status); });
  if (read && status.code != 0) return status;
  return {0, "", without_secrets(body).substr(0, kMaxText)};
}

bool LineSplitter::feed(std::string_view bytes) {
  if (at_ > 0) {
    pending_.erase(0, at_);
    scanned_ -= at_;
    at_ = 0;
  }
  pending_.append(bytes);
  return pending_.size() <= max_ || pending_.find('\n') <= max_;
}

std::string* LineSplitter::next() {
  while (true) {
    const std::size_t end = pending_.find('\n', scanned_);
    if (end == std::string::npos) {
      scanned_ = pending_.size();
      return nullptr;
    }
    line_.assign(pending_, at_, end - at_);
    at_ = scanned_ = end + 1;
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    if (!line_.empty()) return &line_;
  }
}

}  // namespace chipweave::codec
