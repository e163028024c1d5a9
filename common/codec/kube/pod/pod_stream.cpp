#include "common/codec/kube/pod/pod_stream.hpp"

#include <limits>

#include "common/codec/kube/pod/claims_stream.hpp"
#include "common/codec/kube/pod/nodes/node_wishes.hpp"

namespace chipweave::codec::json_stream {
namespace {

KubeContainer read_container(od::value value, int depth) {
  KubeContainer c;
  std::string restart_policy;
  each_member("container", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "name")) return read_string("container name", v, c.name);
    if (is_key(key, "restartpolicy")) return read_string("restartPolicy", v, restart_policy);
    if (!is_key(key, "resources")) return check(v, depth + 1);
    c.requests.clear();
    c.limits.clear();
    each_member("resources", v, [&](std::string_view inner, od::value w) {
      if (is_key(inner, "requests")) return read_map("requests", w, true, c.requests);
      if (is_key(inner, "limits")) return read_map("limits", w, true, c.limits);
      check(w, depth + 2);
    });
  });
  c.sidecar = restart_policy == "Always";
  return c;
}

void read_containers(const char* name, od::value value, int depth, std::vector<KubeContainer>& to) {
  to.clear();
  each_element(name, value, [&](od::value one) { to.push_back(read_container(one, depth + 1)); });
}

void clear_metadata(KubePod& pod) {
  pod.name.clear();
  pod.ns.clear();
  pod.uid.clear();
  pod.resource_version.clear();
  pod.ending = false;
  pod.created = 0;
  pod.labels.clear();
  pod.annotations.clear();
}

void read_gates(od::value value, int depth, std::vector<std::string>& to) {
  to.clear();
  each_element("spec.schedulingGates", value, [&](od::value one) {
    std::string name;
    each_member("spec.schedulingGates", one, [&](std::string_view key, od::value v) {
      if (is_key(key, "name")) return read_string("spec.schedulingGates.name", v, name);
      check(v, depth + 2);
    });
    to.push_back(std::move(name));
  });
}

void read_scheduling_group(od::value value, int depth, std::string& to) {
  to.clear();
  each_member("spec.schedulingGroup", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "podgroupname")) return read_string("spec.schedulingGroup.podGroupName", v, to);
    check(v, depth + 1);
  });
}

void read_workload(od::value value, int depth, std::string& to) {
  to.clear();
  std::string workload;
  std::string group;
  std::string replica;
  each_member("spec.workloadRef", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "name")) return read_string("spec.workloadRef.name", v, workload);
    if (is_key(key, "podgroup")) return read_string("spec.workloadRef.podGroup", v, group);
    if (is_key(key, "podgroupreplicakey"))
      return read_string("spec.workloadRef.podGroupReplicaKey", v, replica);
    check(v, depth + 1);
  });
  if (!workload.empty()) to = workload + "/" + group + "/" + replica;
}

void read_pod_resources(od::value value, int depth, StringMap& requests) {
  requests.clear();
  each_member("spec.resources", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "requests")) return read_map("spec.resources.requests", v, true, requests);
    check(v, depth + 1);
  });
}

void read_spec(od::value value, int depth, KubePod& pod, ClaimsOfPodReader& claims,
               NodeWishesReader& nodes) {
  claims.forget_spec();
  nodes.forget_spec();
  pod.node_name.clear();
  pod.scheduler.clear();
  pod.hostname.clear();
  pod.subdomain.clear();
  pod.priority = 0;
  pod.may_preempt = true;
  pod.gang.clear();
  pod.gates.clear();
  pod.init_containers.clear();
  pod.containers.clear();
  pod.overhead.clear();
  pod.requests.clear();
  each_member("spec", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "nodename")) return read_string("spec.nodeName", v, pod.node_name);
    if (is_key(key, "schedulername")) return read_string("spec.schedulerName", v, pod.scheduler);
    if (is_key(key, "hostname")) return read_string("spec.hostname", v, pod.hostname);
    if (is_key(key, "subdomain")) return read_string("spec.subdomain", v, pod.subdomain);
    if (is_key(key, "priority")) {
      std::int64_t priority = 0;
      if (is_null(v)) return;
      if (v.type() != od::json_type::number || v.get_int64().get(priority) != simdjson::SUCCESS ||
          priority < std::numeric_limits<std::int32_t>::min() ||
          priority > std::numeric_limits<std::int32_t>::max())
        wrong_type("spec.priority", "a 32-bit number");
      pod.priority = static_cast<int>(priority);
      return;
    }
    if (is_key(key, "preemptionpolicy")) {
      std::string policy;
      read_string("spec.preemptionPolicy", v, policy);
      pod.may_preempt = policy != "Never";
      return;
    }
    if (is_key(key, "schedulinggroup")) return read_scheduling_group(v, depth + 1, pod.gang);
    if (is_key(key, "workloadref")) return read_workload(v, depth + 1, pod.gang);
    if (is_key(key, "schedulinggates")) return read_gates(v, depth + 1, pod.gates);
    if (is_key(key, "initcontainers")) {
      return read_containers("spec.initContainers", v, depth + 1, pod.init_containers);
    }
    if (is_key(key, "containers"))
      return read_containers("spec.containers", v, depth + 1, pod.containers);
    if (is_key(key, "overhead")) return read_map("spec.overhead", v, true, pod.overhead);
    if (is_key(key, "resources")) return read_pod_resources(v, depth + 1, pod.requests);
    if (claims.take_spec(key, v, depth + 1) || nodes.take_spec(key, v, depth + 1)) return;
    check(v, depth + 1);
  });
}

void read_conditions(od::value value, int depth, KubePod& pod) {
  pod.rejection.clear();
  each_element("status.conditions", value, [&](od::value one) {
    std::string type;
    std::string status;
    std::string reason;
    std::string message;
    each_member("condition", one, [&](std::string_view key, od::value v) {
      if (is_key(key, "type")) return read_string("condition type", v, type);
      if (is_key(key, "status")) return read_string("condition status", v, status);
      if (is_key(key, "reason")) return read_string("condition reason", v, reason);
      if (is_key(key, "message")) return read_string("condition message", v, message);
      check(v, depth + 2);
    });
    if (type == "PodScheduled" && status == "False") pod.rejection = reason + ": " + message;
  });
}

void read_status(od::value value, int depth, KubePod& pod, ClaimsOfPodReader& claims) {
  claims.forget_status();
  pod.phase.clear();
  pod.nominated_node.clear();
  pod.rejection.clear();
  pod.host_ip.clear();
  pod.pod_ip.clear();
  each_member("status", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "phase")) return read_string("status.phase", v, pod.phase);
    if (is_key(key, "nominatednodename"))
      return read_string("status.nominatedNodeName", v, pod.nominated_node);
    if (is_key(key, "hostip")) return read_string("status.hostIP", v, pod.host_ip);
    if (is_key(key, "podip")) return read_string("status.podIP", v, pod.pod_ip);
    if (is_key(key, "conditions")) return read_conditions(v, depth + 1, pod);
    if (claims.take_status(key, v, depth + 1)) return;
    check(v, depth + 1);
  });
}

}  // namespace

bool read_kube_pod(od::value value, int depth, KubePod& pod) {
  pod = KubePod{};
  ClaimsOfPodReader claims;
  NodeWishesReader nodes;
  const bool given = each_member("Pod", value, [&](std::string_view key, od::value v) {
    if (is_key(key, "metadata")) {
      clear_metadata(pod);
      return read_metadata(v, depth + 1, pod);
    }
    if (is_key(key, "spec")) return read_spec(v, depth + 1, pod, claims, nodes);
    if (is_key(key, "status")) return read_status(v, depth + 1, pod, claims);
    check(v, depth + 1);
  });
  pod.claims = claims.finish();
  pod.nodes = nodes.finish();
  return given;
}

}  // namespace chipweave::codec::json_stream
