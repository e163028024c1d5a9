#include "common/codec/kube/objects/lease.hpp"

#include "common/base/json_writer.hpp"

namespace chipweave::codec {

namespace {

template <class Lease>
JsonWriter begin(const Lease& lease, const char* component) {
  JsonWriter w;
  w.begin_object().field("apiVersion", "coordination.k8s.io/v1").field("kind", "Lease");
  w.key("metadata").begin_object().field("name", lease.name).field("namespace", lease.ns);
  if (!lease.resource_version.empty()) w.field("resourceVersion", lease.resource_version);
  w.key("labels").begin_object().field("chipweave.dev/component", component).end_object();
  w.end_object();
  w.key("spec").begin_object().field("holderIdentity", lease.holder);
  w.key("leaseDurationSeconds").integer(lease.duration.count());
  w.field("acquireTime", rfc3339_micros(lease.acquired))
      .field("renewTime", rfc3339_micros(lease.renewed));
  return w;
}

}  // namespace

std::string lease_path(const std::string& ns) {
  return "/apis/coordination.k8s.io/v1/namespaces/" + ns + "/leases";
}

std::string write_lease(const AgentLease& lease) {
  JsonWriter w = begin(lease, "agent");
  w.end_object().end_object();
  return w.take();
}

std::string write_lease(const LeaderLease& lease) {
  JsonWriter w = begin(lease, "scheduler");
  w.key("leaseTransitions").integer(lease.transitions);
  w.end_object().end_object();
  return w.take();
}

}  // namespace chipweave::codec
