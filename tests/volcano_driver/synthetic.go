package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// How an invented cluster looks: nodes of 8 GPUs that are as long, as JSON, as those of real clusters, and pods without
// GPUs that run on them.
type syntheticOptions struct {
	nodes        int
	nodeBytes    int
	runningPods  int // on each node
	podBytes     int
	podsFile     string // the pods that wait
	nodeResource string
}

const syntheticChips = 8

func newSynthetic(o syntheticOptions) (*syntheticCluster, error) {
	rawPods, err := podsOf(o.podsFile)
	if err != nil {
		return nil, err
	}
	var rawNodes []json.RawMessage
	for i := range o.nodes {
		rawNodes = append(rawNodes, syntheticNode(i, o))
		for k := range o.runningPods {
			rawPods = append(rawPods, runningPod(i, k, o))
		}
	}
	nodes, pods, err := readAll(rawNodes, rawPods)
	return &syntheticCluster{nodes, pods}, err
}

// A list of pods as an API server writes it.
func podsOf(file string) ([]json.RawMessage, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(list.Items) == 0 {
		return nil, fmt.Errorf("%s holds no pods", file)
	}
	return list.Items, nil
}

// Padded to the wanted length by its images, which make real nodes long too.
func syntheticNode(number int, o syntheticOptions) json.RawMessage {
	name := fmt.Sprintf("node-%d", number)
	amounts := map[string]string{"cpu": "192", "memory": "2113Gi", "pods": "110", "ephemeral-storage": "3500Gi",
		"hugepages-1Gi": "0", "hugepages-2Mi": "0", o.nodeResource: fmt.Sprint(syntheticChips)}
	const then = "2026-01-02T03:04:05Z"
	conditions := []map[string]string{}
	for kind, status := range map[string]string{"Ready": "True", "MemoryPressure": "False", "DiskPressure": "False", "PIDPressure": "False"} {
		conditions = append(conditions, map[string]string{"type": kind, "status": status, "reason": "Kubelet" + kind,
			"message": "kubelet says so", "lastHeartbeatTime": then, "lastTransitionTime": then})
	}
	status := map[string]any{"allocatable": amounts, "capacity": amounts, "conditions": conditions,
		"addresses":       []map[string]string{{"type": "InternalIP", "address": "10.0.0.1"}, {"type": "Hostname", "address": name}},
		"daemonEndpoints": map[string]any{"kubeletEndpoint": map[string]int{"Port": 10250}},
		"nodeInfo": map[string]string{"architecture": "amd64", "operatingSystem": "linux", "kernelVersion": "6.1.0-20-amd64",
			"kubeletVersion": "v1.36.1", "containerRuntimeVersion": "containerd://2.1.0", "osImage": "Debian GNU/Linux 12"}}
	object := map[string]any{"metadata": map[string]any{"name": name, "uid": fmt.Sprintf("11111111-0000-4000-8000-%012d", number),
		"resourceVersion": fmt.Sprint(1000 + number), "creationTimestamp": then,
		"labels": map[string]string{"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
			"topology.kubernetes.io/zone": fmt.Sprintf("zone-%d", number%4), "node.kubernetes.io/instance-type": "gpu-8"},
		"annotations":   map[string]string{"node.alpha.kubernetes.io/ttl": "0"},
		"managedFields": managedFields("kubelet")}, "spec": map[string]any{"podCIDR": "10.1.0.0/24"}, "status": status}
	var images []map[string]any
	for size := len(mustMarshal(object)); size < o.nodeBytes; size += 265 {
		image := fmt.Sprintf("registry.example.com/team/image-%03d", len(images))
		images = append(images, map[string]any{"names": []string{image + "@sha256:" + strings.Repeat("0f", 32), image + ":v1.2.3"},
			"sizeBytes": 1234567890 + len(images)})
	}
	status["images"] = images
	return mustMarshal(object)
}

func managedFields(manager string) []map[string]any {
	fields := map[string]any{}
	for i := range 12 {
		fields[fmt.Sprintf("f:field-%d", i)] = map[string]any{".": struct{}{}, `k:{"type":"Ready"}`: struct{}{}}
	}
	return []map[string]any{{"manager": manager, "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
		"time": "2026-01-02T03:04:05Z", "fieldsV1": map[string]any{"f:status": fields}}}
}

// Padded to the wanted length by its environment.
func runningPod(nodeNumber, number int, o syntheticOptions) json.RawMessage {
	name := fmt.Sprintf("daemon-%d-%d", number, nodeNumber)
	amounts := map[string]string{"cpu": "1", "memory": "2Gi"}
	c := map[string]any{"name": "main", "image": "registry.example.com/team/daemon:v1.2.3", "imagePullPolicy": "IfNotPresent",
		"resources": map[string]any{"requests": amounts, "limits": amounts}}
	object := map[string]any{"metadata": map[string]any{"name": name, "namespace": "system",
		"uid":               fmt.Sprintf("22222222-0000-4000-%04d-%012d", number, nodeNumber),
		"creationTimestamp": "2026-01-02T03:04:05Z", "labels": map[string]string{"app": "daemon"},
		"managedFields": managedFields("kube-controller-manager")},
		"spec": map[string]any{"nodeName": fmt.Sprintf("node-%d", nodeNumber), "schedulerName": "default-scheduler",
			"containers": []any{c}, "restartPolicy": "Always", "serviceAccountName": "daemon"},
		"status": map[string]any{"phase": "Running", "podIP": "10.1.2.3", "qosClass": "Guaranteed"}}
	var environment []map[string]string
	for size := len(mustMarshal(object)); size < o.podBytes; size += 62 {
		environment = append(environment, map[string]string{"name": fmt.Sprintf("VARIABLE_%04d", len(environment)),
			"value": "something of some length"})
	}
	c["env"] = environment
	return mustMarshal(object)
}
