// Manifest — Kubernetes YAML → the pods its controllers would create, as JSON an API server could
// hold.
//
// Without a cluster there are no controllers, so this plays them: Pod, batch Job, Deployment,
// ReplicaSet, StatefulSet, PyTorchJob, Volcano Job, AscendJob, DLRover ElasticJob, and Lists of
// these. Names, labels and annotations are the ones the real controllers give, except where those
// are random: pods of a Deployment, ReplicaSet or Job are NAME-0, NAME-1, …, and a generateName
// ends in 0. Labels with a cluster's random ids (pod-template-hash, controller-uid) are left out.
// Everything else in a file is skipped with a note. Pure: bytes in, values out.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

struct ManifestPod {
  std::string ns;
  std::string name;
  std::string json;                      // the Pod object, one line
  std::string owner;                     // "PyTorchJob bert", "" for a bare Pod
  std::map<std::string, int> resources;  // extended resources, as Kubernetes counts a pod's request
  std::string group;                     // ACK label gpu-topology, "" if none
  std::string hostname;                  // nodeSelector kubernetes.io/hostname, "" if none
  bool selects_nodes = false;  // other nodeSelectors or affinity: mean nothing without node labels
};

struct Manifest {
  std::vector<ManifestPod> pods;   // in the order of the file
  std::vector<std::string> notes;  // what was skipped or assumed, for people
};

struct ManifestOptions {
  std::string default_namespace = "default";
  bool owners = true;  // false: pods for a cluster that does not have the objects they come from
};

// A DNS label, as Kubernetes requires for namespaces: lower-case letters, digits and '-', at most
// 63.
bool is_namespace(std::string_view name);

// Errors name the line and the key, or the place in the document. Limits: kMaxManifestBytes,
// kMaxManifestValues, kMaxManifestPods, kMaxManifestExpandedBytes.
Result<Manifest> expand_manifest(std::string_view yaml, const ManifestOptions& options = {});

}  // namespace chipweave::codec
