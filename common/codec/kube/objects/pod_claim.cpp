#include "common/codec/kube/objects/pod_claim.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/text.hpp"
#include "common/codec/json/stream_reader.hpp"
#include "common/codec/kube/dra/dra_claim.hpp"

namespace chipweave::codec {
namespace {

using namespace json_stream;

constexpr const char* kApi = "resource.k8s.io/v1";
// Without it the allocation outlives the pod.
constexpr const char* kFinalizer = "resource.kubernetes.io/delete-protection";

// Names sort as numbers do: "chip-00", "chip-01" … A claim has kMaxClaimDevices at most.
std::string request_name(std::size_t k) {
  return "chip-" + std::string(k < 10 ? "0" : "") + std::to_string(k);
}

// Its inverse; nullopt: it is none of these names.
std::optional<std::size_t> request_number(std::string_view name) {
  constexpr std::string_view kPrefix = "chip-";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const auto k = parse_number<std::size_t>(name.substr(kPrefix.size()));
  return k && *k < kMaxClaimDevices && request_name(*k) == name ? k : std::nullopt;
}

JsonWriter& begin_claim(JsonWriter& w, const std::string& ns, const std::string& name) {
  w.begin_object().field("apiVersion", kApi).field("kind", "ResourceClaim");
  return w.key("metadata").begin_object().field("name", name).field("namespace", ns);
}

void write_stored_version(JsonWriter& w, const ObjectVersion& of) {
  w.field("uid", of.uid).field("resourceVersion", of.resource_version);
}

// Allocated devices are followed on this node only.
void write_node_selector(JsonWriter& w, const std::string& node) {
  w.key("nodeSelector").begin_object().key("nodeSelectorTerms").begin_array().begin_object();
  w.key("matchFields").begin_array().begin_object();
  w.field("key", "metadata.name").field("operator", "In").key("values").begin_array();
  w.string(node);
  w.end_array().end_object().end_array();
  w.end_object().end_array().end_object();
}

struct NamedDevice {
  std::string request;
  ClaimedDevice device;
};

void read_result(od::value value, std::vector<NamedDevice>& to) {
  NamedDevice one;
  each_member("results", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "request")) return read_string("request", v, one.request);
    if (is_key(key, "driver")) return read_string("driver", v, one.device.driver);
    if (is_key(key, "pool")) return read_string("pool", v, one.device.pool);
    if (is_key(key, "device")) return read_string("device", v, one.device.device);
    check(v, 6);
  });
  to.push_back(std::move(one));
}

void read_allocation(od::value value, std::vector<NamedDevice>& to) {
  each_member("allocation", value, [&](std::string_view key, od::value v) {
    if (!is_key(key, "devices")) return check(v, 3);
    each_member("devices", v, [&](std::string_view inner, od::value w) {
      if (!is_key(inner, "results")) return check(w, 4);
      each_element("results", w, [&](od::value one) { read_result(one, to); });
    });
  });
}

void read_reserved(od::value value, std::vector<std::string>& to) {
  each_element("status.reservedFor", value, [&](od::value one) {
    std::string uid;
    each_member("reservedFor", one, [&](std::string_view key, od::value v) {
      if (is_key(key, "uid")) return read_string("uid", v, uid);
      check(v, 4);
    });
    to.push_back(std::move(uid));
  });
}

void read_claim_metadata(od::value value, StoredClaim& to) {
  each_member("metadata", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "uid")) return read_string("metadata.uid", v, to.version.uid);
    if (is_key(key, "resourceversion"))
      return read_string("metadata.resourceVersion", v, to.version.resource_version);
    if (is_key(key, "deletiontimestamp")) {
      std::string when;
      read_string("metadata.deletionTimestamp", v, when);
      to.ending = !when.empty();
      return;
    }
    if (!is_key(key, "ownerreferences")) return check(v, 2);
    each_element("metadata.ownerReferences", v, [&](od::value owner) {
      each_member("ownerReferences", owner, [&](std::string_view inner, od::value w) {
        if (is_key(inner, "uid")) return read_string("uid", w, to.owner_uid);
        check(w, 4);
      });
    });
  });
}

void read_mapping(od::value value, PodClaimStatus& to) {
  std::string container;
  std::string resource;
  std::string request;
  each_member("requestMappings", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "containername")) return read_string("containerName", v, container);
    if (is_key(key, "resourcename")) return read_string("resourceName", v, resource);
    if (is_key(key, "requestname")) return read_string("requestName", v, request);
    check(v, 5);
  });
  const auto k = request_number(request);
  if (!k) throw BadInput("requestMappings: not a request of chipweave's: " + printable(request));
  if (!to.resource.empty() && to.resource != resource)
    throw BadInput("requestMappings: more than one resource");
  to.resource = std::move(resource);
  to.containers[container].push_back(*k);
}

}  // namespace

std::string write_pod_claim(const PodClaim& claim) {
  JsonWriter w;
  begin_claim(w, claim.ns, claim.name());
  w.key("finalizers").begin_array().string(kFinalizer).end_array();
  w.key("annotations").begin_object().field(kExtendedResourceClaim, "true");
  // chipweave's driver can then write one variable with all chips.
  const bool one_for_all =
      std::any_of(claim.containers.begin(), claim.containers.end(),
                  [&](const auto& one) { return one.second.size() == claim.devices.size(); });
  if (one_for_all && claim.containers.size() == 1) w.field(kOneContainerAnnotation, "true");
  w.end_object();
  w.key("ownerReferences").begin_array().begin_object();
  w.field("apiVersion", "v1").field("kind", "Pod").field("name", claim.pod);
  w.field("uid", claim.pod_uid).key("controller").boolean(true);
  w.key("blockOwnerDeletion").boolean(true).end_object().end_array();
  w.end_object();
  w.key("spec").begin_object().key("devices").begin_object().key("requests").begin_array();
  for (std::size_t k = 0; k < claim.devices.size(); ++k) {
    w.begin_object().field("name", request_name(k)).key("exactly").begin_object();
    w.field("deviceClassName", claim.device_class).key("count").integer(1);
    w.end_object().end_object();
  }
  w.end_array().end_object().end_object().end_object();
  return w.take();
}

std::string write_pod_claim_allocation(const PodClaim& claim, const ObjectVersion& of,
                                       const std::string& time) {
  JsonWriter w;
  write_stored_version(begin_claim(w, claim.ns, claim.name()), of);
  w.end_object().key("status").begin_object().key("allocation").begin_object();
  // Without it kube-scheduler adds it, which the API server refuses each time.
  w.field("allocationTimestamp", time);
  w.key("devices").begin_object().key("results").begin_array();
  for (std::size_t k = 0; k < claim.devices.size(); ++k) {
    const ClaimedDevice& device = claim.devices[k];
    w.begin_object().field("request", request_name(k)).field("driver", device.driver);
    w.field("pool", device.pool).field("device", device.device).end_object();
  }
  w.end_array().end_object();
  write_node_selector(w, claim.node);
  w.end_object();
  w.key("reservedFor").begin_array().begin_object().field("resource", "pods");
  w.field("name", claim.pod).field("uid", claim.pod_uid).end_object().end_array();
  w.end_object().end_object();
  return w.take();
}

std::string write_pod_claim_release(const std::string& ns, const std::string& name,
                                    const ObjectVersion& of) {
  JsonWriter w;
  write_stored_version(begin_claim(w, ns, name), of);
  w.end_object().key("status").begin_object().end_object().end_object();
  return w.take();
}

std::string write_pod_claim_status(const PodClaim& claim) {
  JsonWriter w;
  w.begin_object().key("metadata").begin_object().field("uid", claim.pod_uid).end_object();
  w.key("status").begin_object().key("extendedResourceClaimStatus").begin_object();
  w.field("resourceClaimName", claim.name()).key("requestMappings").begin_array();
  for (const auto& [container, chips] : claim.containers) {
    for (const std::size_t k : chips) {
      w.begin_object().field("containerName", container).field("resourceName", claim.resource);
      w.field("requestName", request_name(k)).end_object();
    }
  }
  w.end_array().end_object().end_object().end_object();
  return w.take();
}

Result<PodClaimStatus> read_pod_claim_status(std::string& body) {
  PodClaimStatus out;
  auto read = read_document(body, [&](std::string_view key, od::value v) {
    if (!is_key(key, "status")) return check(v, 1);
    each_member("status", v, [&](std::string_view inner, od::value w) {
      if (!is_key(inner, "extendedresourceclaimstatus")) return check(w, 2);
      each_member("extendedResourceClaimStatus", w, [&](std::string_view of, od::value x) {
        if (is_key(of, "resourceclaimname")) return read_string("resourceClaimName", x, out.claim);
        if (!is_key(of, "requestmappings")) return check(x, 3);
        each_element("requestMappings", x, [&](od::value one) { read_mapping(one, out); });
      });
    });
  });
  if (!read) return std::move(read).error();
  return out;
}

Result<StoredClaim> read_stored_claim(std::string& body) {
  StoredClaim out;
  std::vector<NamedDevice> devices;
  auto read = read_document(body, [&](std::string_view key, od::value v) {
    if (is_key(key, "metadata")) return read_claim_metadata(v, out);
    if (!is_key(key, "status")) return check(v, 1);
    each_member("status", v, [&](std::string_view inner, od::value w) {
      if (is_key(inner, "allocation")) return read_allocation(w, devices);
      if (is_key(inner, "reservedfor")) return read_reserved(w, out.pods);
      check(w, 2);
    });
  });
  if (!read) return std::move(read).error();
  if (out.version.uid.empty() || out.version.resource_version.empty()) {
    return make_error(Errc::invalid_argument,
                      "the claim has no metadata.uid or no metadata.resourceVersion");
  }
  std::stable_sort(devices.begin(), devices.end(), [](const NamedDevice& a, const NamedDevice& b) {
    return a.request < b.request;
  });
  for (NamedDevice& one : devices) out.devices.push_back(std::move(one.device));
  return out;
}

bool is_allocated_as(const StoredClaim& stored, const PodClaim& wanted) {
  return stored.devices == wanted.devices && stored.pods == std::vector{wanted.pod_uid};
}

}  // namespace chipweave::codec
