// The flags of chipweave-agent with their help, in the order of --help and --print-config.
#pragma once

#include <array>

namespace chipweave::agent {

struct FlagText {
  const char* name;
  const char* what;
  bool is_switch = false;  // may be given without a value, which means true
};

// Every one is also a key of the configuration file.
inline constexpr std::array<FlagText, 43> kFlags = {{
    {"node", "name of this node as the cluster knows it"},
    {"probe",
     "profile:NAME, file:PATH, or the hardware: nvidia, amd, ascend, metax, pci (the bus alone) or "
     "auto; default auto"},
    {"sysfs-root",
     "folder that contains the host's sys, dev, etc and run; default: those of this machine"},
    {"driver-root", "folder where the host's driver is mounted; default: /"},
    {"nvml-library", "path of libnvidia-ml.so.1; default: where drivers install it"},
    {"dcmi-library", "path of libdcmi.so; default: where drivers install it"},
    {"lldpctl",
     "path of lldpd's lldpctl, to find the network neighbours of NICs; default: read "
     "systemd-networkd's files"},
    {"fabric-partitions",
     "hgx-8: the NVSwitches are shared between tenants, use only their partitions; default none"},
    {"metrics-interval",
     "seconds between measurements of the chips (temperature, power, traffic …); 0: none; default "
     "10"},
    {"probe-process",
     "program that calls the drivers; default: chipweave-agent-probe beside this one"},
    {"health-policy",
     "YAML file: the effect of each fault; laid over the built-in policy; see --print-policy"},
    {"scheduler",
     "without a cluster: HOST:PORT of the scheduler's gRPC server, which gets the reports"},
    {"kubernetes", "report to the API server of the cluster in which this is a pod", true},
    {"kubeconfig", "report to the API server in this kubeconfig"},
    {"lease-namespace",
     "namespace of the Lease with this agent's heartbeat; default: that of the pod or kubeconfig, "
     "else \"default\""},
    {"tls-ca", "PEM file: CA of the scheduler's certificate; default: no TLS"},
    {"tls-cert", "PEM file: client certificate for the scheduler"},
    {"tls-key", "PEM file: its key"},
    {"tls-server-name", "name in the scheduler's certificate; default: the host of --scheduler"},
    {"ascend-fault-codes",
     "MindCluster's faultCode.json: effects of fault codes; they win over the policy"},
    {"publish",
     "what else to publish in a cluster, comma separated: mindcluster, ack, labels, gfd-labels, "
     "metax-labels "
     "(docs/reference/annotations-and-labels.md)"},
    {"pod-resources",
     "in a cluster: the kubelet's socket, to find out which chips pods use, usually "
     "/var/lib/kubelet/pod-resources/kubelet.sock; default: none, all chips count as free"},
    {"enforcement",
     "in a cluster: who hands the chosen chips over to containers: none, dra, device-plugin or "
     "vendor-annotations (docs/concepts/who-enforces.md); default: none"},
    {"gate-file",
     "with --enforcement device-plugin: the file of the same flag of chipweave-device-plugin; the "
     "node gets no pods with chips unless it says open; default: /run/chipweave/device-plugin"},
    {"dra-driver",
     "in a cluster: be a DRA driver of this name, such as gpu.chipweave.dev "
     "(docs/tasks/enforce-with-dra.md); default: none"},
    {"dra-managed", "only chipweave-scheduler gives the devices away: taint them all", true},
    {"dra-evict", "evict the pods of a chip that becomes unhealthy", true},
    {"dra-device-nodes",
     "device nodes of a chip, comma separated, with {index}, {minor}, {physical} or {pci}; a '?' "
     "behind an optional one; default: by vendor"},
    {"dra-toolkit-kind",
     "kind of the CDI devices that the vendor's toolkit describes, for the driver's libraries: "
     "nvidia.com/gpu; default: none"},
    {"dra-cdi-folder", "where the container runtime reads CDI files; default: /var/run/cdi"},
    {"dra-kubelet-folder", "folder of the kubelet; default: /var/lib/kubelet"},
    {"dra-state-folder",
     "folder of the checkpoint of prepared claims, in memory (tmpfs); default: "
     "/run/chipweave-dra"},
    {"dra-host-root", "folder that contains the host's dev, sys and proc; default: this machine's"},
    {"rank-table-files",
     "in a cluster: namespaces whose jobs get their rank tables as files on this node, comma "
     "separated; default: none"},
    {"rank-table-folder",
     "folder of the host for these, which pods mount; default: /user/mindx-dl/ranktable"},
    {"nfd-file", "write the node's labels to this Node Feature Discovery feature file"},
    {"health-file",
     "JSON of known faults, watched: "
     "{\"unhealthy\":[3],\"network_unhealthy\":[5],\"down_links\":[[0,3]]}"},
    {"metrics", "HOST:PORT for /metrics and /healthz; port 0: any free one; default: none"},
    {"metrics-tls-cert", "PEM file: server certificate of --metrics; default: no TLS"},
    {"metrics-tls-key", "PEM file: its key"},
    {"port-file", "write {\"metrics\":PORT} here when ready"},
    {"resource", "extended resources of the chips, comma separated; default: by vendor"},
    {"log-level", "debug, info, warn or error; default info"},
}};

}  // namespace chipweave::agent
