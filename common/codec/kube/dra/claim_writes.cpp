#include "common/codec/kube/dra/claim_writes.hpp"

#include <algorithm>

#include "common/base/json_writer.hpp"

namespace chipweave::codec {
namespace {

JsonWriter& begin_patch(JsonWriter& w, const KubeClaim& claim) {
  w.begin_object().key("metadata").begin_object().field("uid", claim.uid);
  return w.field("resourceVersion", claim.resource_version);
}

void write_consumer(JsonWriter& w, const ClaimConsumer& one) {
  w.begin_object();
  if (!one.api_group.empty()) w.field("apiGroup", one.api_group);
  w.field("resource", one.resource).field("name", one.name).field("uid", one.uid).end_object();
}

void write_config(JsonWriter& w, const char* source, const std::vector<std::string>& requests,
                  const std::string& opaque) {
  w.begin_object().field("source", source);
  if (!requests.empty()) {
    w.key("requests").begin_array();
    for (const std::string& request : requests) w.string(request);
    w.end_array();
  }
  w.key("opaque").raw(opaque).end_object();
}

void write_node(JsonWriter& w, const std::string& node) {
  w.key("nodeSelector").begin_object().key("nodeSelectorTerms").begin_array().begin_object();
  w.key("matchFields").begin_array().begin_object();
  w.field("key", "metadata.name").field("operator", "In").key("values").begin_array();
  w.string(node);
  w.end_array().end_object().end_array();
  w.end_object().end_array().end_object();
}

}  // namespace

bool has_finalizer(const KubeClaim& claim) {
  return std::find(claim.finalizers.begin(), claim.finalizers.end(), kClaimFinalizer) !=
         claim.finalizers.end();
}

std::string write_claim_finalizer(const KubeClaim& claim, bool wanted) {
  JsonWriter w;
  begin_patch(w, claim).key("finalizers").begin_array();
  for (const std::string& one : claim.finalizers) {
    if (one != kClaimFinalizer) w.string(one);
  }
  if (wanted) w.string(kClaimFinalizer);
  w.end_array().end_object().end_object();
  return w.take();
}

std::string write_claim_allocation(const KubeClaim& claim, const ClaimAllocation& allocation,
                                   const ClaimConsumer& pod) {
  JsonWriter w;
  begin_patch(w, claim).end_object();
  w.key("status").begin_object().key("allocation").begin_object();
  // Without it kube-scheduler adds it, which the API server refuses each time.
  w.field("allocationTimestamp", allocation.time);
  w.key("devices").begin_object().key("results").begin_array();
  for (const DeviceForRequest& one : allocation.results) {
    w.begin_object().field("request", one.request).field("driver", one.device.driver);
    w.field("pool", one.device.pool).field("device", one.device.device).end_object();
  }
  w.end_array();
  bool configured = !allocation.claim_configs.empty();
  for (const auto& [request, configs] : allocation.class_configs)
    configured = configured || !configs.empty();
  if (configured) {
    w.key("config").begin_array();
    for (const auto& [request, configs] : allocation.class_configs) {
      for (const OpaqueConfig& one : configs) write_config(w, "FromClass", {request}, one.opaque);
    }
    for (const OpaqueConfig& one : allocation.claim_configs)
      write_config(w, "FromClaim", one.requests, one.opaque);
    w.end_array();
  }
  w.end_object();
  write_node(w, allocation.node);
  w.end_object();
  w.key("reservedFor").begin_array();
  write_consumer(w, pod);
  w.end_array().end_object().end_object();
  return w.take();
}

std::string write_claim_reservation(const KubeClaim& claim, const ClaimConsumer& pod) {
  JsonWriter w;
  begin_patch(w, claim).end_object();
  w.key("status").begin_object().key("reservedFor").begin_array();
  for (const ClaimConsumer& one : claim.consumers) write_consumer(w, one);
  write_consumer(w, pod);
  w.end_array().end_object().end_object();
  return w.take();
}

std::string write_claim_release(const KubeClaim& claim) {
  JsonWriter w;
  begin_patch(w, claim).end_object();
  w.key("status").begin_object().key("allocation").raw("null").key("reservedFor").raw("null");
  w.end_object().end_object();
  return w.take();
}

}  // namespace chipweave::codec
