#include "common/codec/kube/lease.hpp"

#include "common/base/json_writer.hpp"

namespace chipweave::codec {
namespace {

// Kubernetes' MicroTime: "2026-01-02T03:04:05.000006Z".
std::string micro_time(Clock::Wall time) {
  constexpr std::size_t kDigits = 6;
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  const auto rest = std::chrono::duration_cast<std::chrono::microseconds>(time - second);
  const std::string digits = std::to_string(rest.count());
  std::string out = rfc3339(second);
  out.pop_back();  // the Z
  return out + "." + std::string(kDigits - digits.size(), '0') + digits + "Z";
}

}  // namespace

std::string lease_path(const std::string& ns) {
  return "/apis/coordination.k8s.io/v1/namespaces/" + ns + "/leases";
}

std::string write_lease(const AgentLease& lease) {
  JsonWriter w;
  w.begin_object().field("apiVersion", "coordination.k8s.io/v1").field("kind", "Lease");
  w.key("metadata").begin_object().field("name", lease.name).field("namespace", lease.ns);
  if (!lease.resource_version.empty()) w.field("resourceVersion", lease.resource_version);
  w.key("labels").begin_object().field("chipweave.dev/component", "agent").end_object();
  w.end_object();
  w.key("spec").begin_object().field("holderIdentity", lease.holder);
  w.key("leaseDurationSeconds").integer(lease.duration.count());
  w.field("acquireTime", micro_time(lease.acquired)).field("renewTime", micro_time(lease.renewed));
  w.end_object().end_object();
  return w.take();
}

}  // namespace chipweave::codec
