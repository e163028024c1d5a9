// Every limit of the product in one place. Input above a limit is rejected with an error that names
// the limit.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace chipweave::limits {

// Machines.
inline constexpr int kMaxChips = 64;           // a ChipSet is one 64-bit word
inline constexpr int kMaxChipIndex = 1 << 20;  // also the largest size a request may ask for
inline constexpr std::size_t kMaxDownLinks =
    std::size_t{kMaxChips} * (kMaxChips - 1) / 2;  // every pair once
inline constexpr int kMaxLanes =
    1024;  // lanes of one link or switch port; real ones stay below 100
inline constexpr double kMaxGbps = 100000;  // for one lane
inline constexpr int kMaxNumaNode = 1 << 20;
inline constexpr std::size_t kMaxFactBytes = 1024;  // a name, model or id in a topology
inline constexpr std::size_t kMaxNics = 256;
inline constexpr std::size_t kMaxSwitches = 256;
inline constexpr std::size_t kMaxPartitions = 4096;
inline constexpr int kMaxResources = 16;  // extended resources of one node

// Files and other input from outside.
inline constexpr std::size_t kMaxTopologyFileBytes = 16U
                                                     << 20U;  // the largest real one seen is 0.3 MB
inline constexpr std::size_t kMaxRankTableBytes = 40U << 20U;        // HCCL refuses longer ones
inline constexpr std::size_t kMaxUnpackedArchiveBytes = 64U << 20U;  // of a KFD tree dump
inline constexpr std::size_t kMaxArchiveFiles = 20000;
inline constexpr int kMaxJsonDepth = 64;
inline constexpr std::size_t kMaxJsonValues = 500000;  // in one topology or request
inline constexpr int kMaxXmlDepth = 64;
inline constexpr std::size_t kMaxXmlNodes = 200000;
inline constexpr std::size_t kMaxBatchLineBytes = 4U << 20U;
inline constexpr std::size_t kMaxPlanLineBytes = 128U << 20U;  // includes the network and its nodes
inline constexpr std::size_t kMaxPlanValues = 6'000'000;
inline constexpr std::size_t kMaxPlanNodes = 400'000;
inline constexpr int kMaxGangPods = 100'000;
inline constexpr std::size_t kMaxGangSets = 2000;              // roles or subgroups of one gang
inline constexpr std::size_t kMaxSetsTimesNodes = 20'000'000;  // each set looks for its nodes
inline constexpr std::int64_t kMaxRanks = 1'000'000;           // of one job, a rank a chip
inline constexpr std::size_t kMaxCommunicators = 16;
inline constexpr std::int64_t kMaxRankPairs = 5'000'000;  // that exchange data in one of them
// Together with kMaxNetworkLevels these keep the weighted cost of an order below 2^60.
inline constexpr std::int64_t kMaxCommunicatorWeight = 1'000'000;
inline constexpr std::size_t kMaxConfigBytes = 64U << 10U;  // configuration file of a program
inline constexpr std::size_t kMaxHealthFileBytes = 256U << 10U;
inline constexpr std::size_t kMaxBatchIdBytes = 1024;        // the answer repeats the id
inline constexpr std::size_t kMaxManifestBytes = 4U << 20U;  // one Kubernetes YAML file
inline constexpr int kMaxManifestPods = 10000;               // pods one manifest may expand to
inline constexpr std::size_t kMaxManifestValues = 200000;    // after expanding aliases
inline constexpr std::size_t kMaxManifestExpandedBytes = 64U << 20U;  // text of all its pods
// Network descriptions: `kubectl get nodes -o json` of 5,000 nodes is about 40 MB.
inline constexpr std::size_t kMaxNetworkFileBytes = 64U << 20U;
inline constexpr std::size_t kMaxTraceBytes = 64U << 20U;    // a CSV file of nodes or pods
inline constexpr std::size_t kMaxNetworkValues = 4'000'000;  // JSON values
inline constexpr std::size_t kMaxNetworkNodes = 20000;
inline constexpr std::size_t kMaxNetworkDomains = 100000;  // switches, blocks, HyperNodes
inline constexpr std::size_t kMaxNetworkLevels = 16;
inline constexpr std::size_t kMaxNetworkRails = 64;  // interfaces of one node
inline constexpr std::size_t kMaxNameBytes = 253;    // Kubernetes object names
inline constexpr std::size_t kMaxLabelBytes = 63;    // DNS labels: namespaces
inline constexpr std::size_t kMaxUidBytes = 128;     // real ones have 36
inline constexpr int kMaxChipsOfPod = 1'000'000;
inline constexpr std::int64_t kMaxQuantity = 2147483647;  // of a resource that a pod requests

// Kubernetes API server.
inline constexpr std::size_t kMaxKubeObjectBytes = 8U
                                                   << 20U;  // one event; etcd stores 1.5 MB at most
inline constexpr std::size_t kMaxKubeconfigBytes = 1U << 20U;
inline constexpr std::size_t kMaxCredentialBytes = 256U
                                                   << 10U;     // a token, key or certificate bundle
inline constexpr std::size_t kMaxKubeReplyBytes = 64U << 20U;  // one page of a list
inline constexpr std::size_t kMaxTokenReviewBytes = 256U << 10U;  // with all the user's groups

// The kubelet's list of pods and their devices; kubelet's own clients accept as much.
inline constexpr std::size_t kMaxPodResourcesBytes = 16U << 20U;
inline constexpr std::size_t kMaxSocketPathBytes = 107;  // sun_path of Linux

// HTTP server.
inline constexpr std::size_t kMaxHttpHeaderBytes = 16U << 10U;
inline constexpr std::size_t kMaxHttpBodyBytes = 64U
                                                 << 20U;  // 5,000 full Node objects are about 40 MB
inline constexpr std::size_t kMaxHttpSmallBodyBytes = 1U << 20U;    // one pod, binding or review
inline constexpr std::size_t kMaxHttpUnusedBodyBytes = 64U << 10U;  // for a GET; it is not read
// For all connections together: requests that are being read, replies that are being written;
// likewise for all large bodies that were received and wait for their answer. With a copy of the
// largest body while its buffer grows (32 MiB) and TLS sessions this is the share of port 8443 in
// the chart's memory limit. Above kMaxHttpBodyBytes, so that one request cannot hold everything.
inline constexpr std::size_t kMaxHttpHeldBytes = 96U << 20U;
inline constexpr std::size_t kMaxHttpConnections = 1024;
inline constexpr std::chrono::seconds kHttpHeaderTimeout{5};
inline constexpr std::chrono::seconds kHttpBodyTimeout{10};
// When kMaxHttpHeldBytes are held, requests and replies that take longer than this make room.
inline constexpr std::chrono::seconds kHttpBodyGrace{1};
inline constexpr std::chrono::seconds kHttpIdleTimeout{120};
inline constexpr std::chrono::seconds kHttpWriteTimeout{10};

// Scheduler.
inline constexpr std::chrono::seconds kReservationTtl{30};
inline constexpr std::chrono::seconds kInventoryStaleAfter{30};
inline constexpr std::size_t kMaxNodes = 20000;
inline constexpr std::size_t kMaxPods = 200000;
inline constexpr std::size_t kMaxNodesExplained = 1000;  // listed individually
inline constexpr int kMaxExplainTries = 20000;  // requests to the solver for one explanation
inline constexpr std::size_t kMaxAnnotationBytes = 256U << 10U;
inline constexpr std::size_t kMaxGrpcMessageBytes = 4U << 20U;
// Calls that receive a message or wait for its answer; the others' messages stay with the senders.
inline constexpr std::size_t kMaxGrpcMessages = 16;
inline constexpr std::chrono::seconds kGrpcMessageTimeout{5};
// Bytes of messages that a connection takes before they are read.
inline constexpr int kGrpcUnreadBytes = 64 << 10;
// For all connections of a server together: above it gRPC slows streams down and resets some, but
// may exceed it. Agents that report over gRPC (standalone only) need more.
inline constexpr std::size_t kMaxGrpcHeldBytes = 32U << 20U;
inline constexpr std::size_t kMaxGrpcAgentsHeldBytes = 1U << 30U;
inline constexpr int kMaxGrpcMetadataBytes = 16 << 10;  // a caller's token takes 1 to 4 KiB
inline constexpr std::chrono::seconds kGrpcHandshakeTimeout{10};  // until the TLS handshake is done
inline constexpr std::chrono::minutes kGrpcIdleTimeout{10};       // connection without calls
// Enough for two connections per agent and all HTTP connections.
inline constexpr std::size_t kMaxDescriptors = 65536;

}  // namespace chipweave::limits
