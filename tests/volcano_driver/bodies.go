package main

import (
	"encoding/json"
	"slices"
	"strconv"
)

// Bodies as Volcano sends them: the keys of its Go objects, nothing omitted, Kubernetes objects inside as they are.

type taskInfo struct {
	UID, Job, Name, Namespace, TaskRole string
	Resreq, InitResreq                  *resource
	DRAResreq                           any
	ResourceClaimKeys                   any
	ResourceClaimDRAResreq              any
	NodeName                            string
	EvictionOccurred                    bool
	JobAllocatedHyperNode               string
	Status                              int
	LastTransaction                     *transaction
	Priority                            int
	VolumeReady                         bool
	Preemptable                         bool
	BestEffort                          bool
	HasRestartableInitContainer         bool
	SchGated                            bool
	RevocableZone                       string
	NumaInfo                            numaInfo
	Pod                                 json.RawMessage
	CustomBindErrHandlerSucceeded       bool
}

type numaInfo struct {
	Policy string
	ResMap map[string]any
}

func (t *task) info() *taskInfo {
	restartable := slices.ContainsFunc(t.pod.spec.InitContainers, func(c container) bool { return c.RestartPolicy == "Always" })
	uid := ""
	if t.job != nil {
		uid = t.job.uid
	}
	return &taskInfo{UID: t.pod.metadata.UID, Job: uid, Name: t.pod.metadata.Name, Namespace: t.pod.metadata.Namespace,
		TaskRole: t.role, Resreq: t.resreq, InitResreq: t.initResreq, NodeName: t.node, EvictionOccurred: t.evicted,
		Status: t.status, LastTransaction: t.last, Priority: t.pod.spec.Priority, Preemptable: t.preemptable,
		HasRestartableInitContainer: restartable, SchGated: len(t.pod.spec.SchedulingGates) > 0,
		NumaInfo: numaInfo{ResMap: map[string]any{}}, Pod: t.pod.document(t.specNode)}
}

type nodeInfo struct {
	Name  string
	Node  json.RawMessage
	State struct {
		Phase  int
		Reason string
	}
	Releasing, Pipelined, Idle, Used, Allocatable, Capacity *resource
	ResourceUsage                                           struct {
		MetricsTime              string
		CPUUsageAvg, MEMUsageAvg map[string]float64
	}
	Tasks                                    map[string]*taskInfo
	NumaInfo                                 any
	NumaChgFlag                              int
	NumaSchedulerInfo                        any
	RevocableZone                            string
	Others                                   map[string]any
	OversubscriptionNode, OfflineJobEvicting bool
	OversubscriptionResource                 *resource
	ImageStates                              map[string]any
	Generation, BindGeneration               int
}

// Its JSON, which is made once for all bodies between two changes of the node.
func (n *nodeState) json() []byte {
	n.lock.Lock()
	defer n.lock.Unlock()
	if n.encoded == nil {
		info := &nodeInfo{Name: n.name, Node: n.raw, Releasing: n.releasing, Pipelined: n.pipelined, Idle: n.idle,
			Used: n.used, Allocatable: n.allocatable, Capacity: n.capacity, Tasks: map[string]*taskInfo{},
			Others: map[string]any{}, OversubscriptionResource: &resource{}, ImageStates: map[string]any{}}
		info.State.Phase = 1
		if !n.ready {
			info.State.Phase, info.State.Reason = 2, "NotReady"
		}
		info.ResourceUsage.MetricsTime = "0001-01-01T00:00:00Z"
		info.ResourceUsage.CPUUsageAvg, info.ResourceUsage.MEMUsageAvg = map[string]float64{}, map[string]float64{}
		for uid, t := range n.tasks {
			info.Tasks[uid] = t.info()
		}
		n.encoded = mustMarshal(info)
	}
	return n.encoded
}

// Every part of it was read from JSON or is a plain value.
func mustMarshal(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

type subJobInfo struct {
	GID, UID, Job                          string
	MinAvailable, Priority, MatchIndex     int
	Tasks                                  map[string]*taskInfo
	TaskStatusIndex                        map[string]map[string]*taskInfo
	AllocatedHyperNode, NominatedHyperNode string
	NetworkTopology                        *networkTopology
}

type networkTopology struct {
	Mode               string `json:"mode"`
	HighestTierAllowed int    `json:"highestTierAllowed"`
}

type jobInfo struct {
	UID, PgUID, Name, Namespace, Queue string
	Priority, MinAvailable             int
	WaitingTime                        any
	JobFitErrors                       string
	NodesFitErrors                     map[string]any
	AllocatedHyperNode                 string
	NetworkTopology                    *networkTopology
	SubJobs                            map[string]*subJobInfo
	TaskToSubJob                       map[string]string
	MinSubJobs                         map[string]int
	TaskStatusIndex                    map[string]map[string]*taskInfo
	Tasks                              map[string]*taskInfo
	TaskMinAvailable                   map[string]int
	TaskMinAvailableTotal              int
	Allocated, TotalRequest            *resource
	CreationTimestamp                  string
	PodGroup                           map[string]any
	ScheduleStartTimestamp             any
	Preemptable                        bool
	RevocableZone                      string
	Budget                             struct{ MinAvailable, MaxUnavailable string }
}

// withTasks: false before the job is let in, when Volcano's controller has not made its pods yet.
func (j *job) info(withTasks, hard bool) *jobInfo {
	info := &jobInfo{UID: j.uid, PgUID: "pg-" + j.uid, Name: j.name, Namespace: j.namespace, Queue: j.queue,
		Priority: j.priority, MinAvailable: j.min, NodesFitErrors: map[string]any{}, SubJobs: map[string]*subJobInfo{},
		TaskToSubJob: map[string]string{}, MinSubJobs: map[string]int{}, TaskStatusIndex: map[string]map[string]*taskInfo{},
		Tasks: map[string]*taskInfo{}, TaskMinAvailable: map[string]int{}, TaskMinAvailableTotal: j.min,
		Allocated: &resource{}, TotalRequest: &resource{}, CreationTimestamp: j.created, ScheduleStartTimestamp: j.created,
		PodGroup: j.podGroup(hard)}
	if hard {
		info.NetworkTopology = &networkTopology{"hard", 1}
	}
	for _, t := range j.tasks {
		info.TaskMinAvailable[t.role] = min(info.TaskMinAvailable[t.role]+1, j.min)
	}
	if !withTasks {
		return info
	}
	for _, t := range j.tasks {
		uid, state := t.pod.metadata.UID, strconv.Itoa(t.status)
		if info.TaskStatusIndex[state] == nil {
			info.TaskStatusIndex[state] = map[string]*taskInfo{}
		}
		info.Tasks[uid] = t.info()
		info.TaskStatusIndex[state][uid] = info.Tasks[uid]
		info.TaskToSubJob[uid] = j.uid
		info.TotalRequest.add(t.resreq)
		if t.status&(statusAllocated|statusBinding|statusBound|statusRunning) != 0 {
			info.Allocated.add(t.resreq)
		}
	}
	info.SubJobs[j.uid] = &subJobInfo{GID: j.uid, UID: j.uid, Job: j.uid, MinAvailable: j.min, Priority: j.priority,
		Tasks: info.Tasks, TaskStatusIndex: info.TaskStatusIndex, NetworkTopology: info.NetworkTopology}
	return info
}

// The PodGroup that Volcano's controller would have made; there is none in a test's API server.
func (j *job) podGroup(hard bool) map[string]any {
	phase := "Pending"
	if j.enqueued {
		phase = "Inqueue"
	}
	sum := &resource{}
	for _, t := range j.tasks[:min(j.min, len(j.tasks))] {
		sum.add(t.resreq)
	}
	least := map[string]string{"cpu": strconv.FormatFloat(sum.MilliCPU/1000, 'f', -1, 64),
		"memory": strconv.FormatFloat(sum.Memory, 'f', -1, 64)}
	for name, value := range sum.ScalarResources {
		if name != "pods" {
			value /= 1000
		}
		least[name] = strconv.FormatFloat(value, 'f', -1, 64)
	}
	spec := map[string]any{"minMember": j.min, "queue": j.queue, "minResources": least}
	if hard {
		spec["networkTopology"] = networkTopology{"hard", 1}
	}
	return map[string]any{"metadata": map[string]any{"name": j.name, "namespace": j.namespace, "uid": "pg-" + j.uid,
		"creationTimestamp": j.created}, "spec": spec, "status": map[string]any{"phase": phase}, "Version": "v1beta1"}
}

type queueInfo struct {
	UID, Name string
	Weight    int
	Weights   string
	Hierarchy string
	Queue     map[string]any
}

func queueOf(name string) *queueInfo {
	return &queueInfo{UID: name, Name: name, Weight: 1, Queue: map[string]any{
		"metadata": map[string]any{"name": name, "uid": "queue-" + name},
		"spec":     map[string]any{"weight": 1, "reclaimable": true, "parent": "root"},
		"status":   map[string]any{"state": "Open"}}}
}
