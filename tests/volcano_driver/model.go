package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
)

// States of a task, as the numbers in bodies.
const (
	statusPending   = 1
	statusAllocated = 2
	statusPipelined = 4
	statusBinding   = 8
	statusBound     = 16
	statusRunning   = 32
	statusReleasing = 64
	statusSucceeded = 128
	statusFailed    = 256
	statusUnknown   = 512
)

// What a statement that was taken back leaves behind on its tasks.
type transaction struct {
	NodeName              string
	EvictionOccurred      bool
	JobAllocatedHyperNode string
	Status                int
}

// A pod as one session sees it.
type task struct {
	pod         *pod
	job         *job
	key         string // namespace/name
	role        string
	resreq      *resource
	initResreq  *resource
	node        string
	specNode    string // in the pod's spec; stays there when an allocation is taken back
	status      int
	evicted     bool
	last        *transaction
	preemptable bool
}

// A PodGroup and its tasks, in the order in which they are tried.
type job struct {
	uid       string // namespace/name
	name      string
	namespace string
	queue     string
	min       int
	priority  int
	created   string
	tasks     []*task
	enqueued  bool
}

// A node and what is on it. Idle and its neighbours are Volcano's own counts; they know nothing of single chips.
type nodeState struct {
	*node
	idle, used, releasing, pipelined *resource
	tasks                            map[string]*task // by uid

	lock    sync.Mutex
	encoded []byte // its NodeInfo; nil after a change
}

func (n *nodeState) futureIdle() *resource {
	r := n.idle.clone()
	r.add(n.releasing)
	r.sub(n.pipelined)
	return r
}

func (n *nodeState) add(t *task) { n.count(t, 1); n.tasks[t.pod.metadata.UID] = t }

// With the state that the task was added with.
func (n *nodeState) remove(t *task) { n.count(t, -1); delete(n.tasks, t.pod.metadata.UID) }

func (n *nodeState) count(t *task, sign float64) {
	n.encoded = nil
	if t.status == statusPipelined {
		n.pipelined.change(t.resreq, sign)
		return
	}
	if t.status == statusReleasing {
		n.releasing.change(t.resreq, sign)
	}
	n.idle.change(t.resreq, -sign)
	n.used.change(t.resreq, sign)
}

func (j *job) count(states ...int) int {
	found := 0
	for _, t := range j.tasks {
		if slices.Contains(states, t.status) {
			found++
		}
	}
	return found
}

// Tasks that have their node.
func (j *job) readyTasks() int {
	return j.count(statusAllocated, statusBinding, statusBound, statusRunning, statusSucceeded)
}

func (j *job) pending() []*task {
	var found []*task
	for _, t := range j.tasks {
		if t.status == statusPending && len(t.pod.spec.SchedulingGates) == 0 {
			found = append(found, t)
		}
	}
	return found
}

// Everything one session works with.
type snapshot struct {
	nodes  []*nodeState
	byName map[string]*nodeState
	jobs   []*job
	others int // pods that wait for another scheduler
}

type grouping struct {
	scheduler string
	min       int // members of a group that does not say how many it needs; 0: all of them
}

// `bound`: pods that the driver is binding or has bound, by uid, and their nodes. `enqueued`: jobs that were let in.
func takeSnapshot(nodes []*node, pods []*pod, how grouping, bound map[string]string, enqueued map[string]bool) (*snapshot, error) {
	s := &snapshot{byName: map[string]*nodeState{}}
	for _, n := range nodes {
		state := &nodeState{node: n, idle: n.allocatable.clone(), used: &resource{}, releasing: &resource{},
			pipelined: &resource{}, tasks: map[string]*task{}}
		s.nodes = append(s.nodes, state)
		s.byName[n.name] = state
	}
	slices.SortFunc(s.nodes, func(a, b *nodeState) int { return byName(a.name, b.name) })
	jobs := map[string]*job{}
	for _, p := range pods {
		mine := p.spec.SchedulerName == how.scheduler
		binding := bound[p.metadata.UID]
		if p.spec.NodeName == "" && binding == "" && !mine {
			s.others++
			continue
		}
		t, err := newTask(p, binding)
		if err != nil {
			return nil, err
		}
		if n := s.byName[t.node]; n != nil && !p.ended() {
			n.add(t)
		}
		if mine {
			if err := addToJob(jobs, t, how.min); err != nil {
				return nil, err
			}
		}
	}
	s.jobs = slices.Collect(maps.Values(jobs))
	for _, j := range s.jobs {
		j.finish(enqueued)
	}
	slices.SortFunc(s.jobs, func(a, b *job) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.created, b.created), byName(a.uid, b.uid))
	})
	return s, nil
}

func byName(a, b string) int {
	switch {
	case naturalLess(a, b):
		return -1
	case naturalLess(b, a):
		return 1
	}
	return cmp.Compare(a, b)
}

func newTask(p *pod, binding string) (*task, error) {
	t := &task{pod: p, key: p.metadata.Namespace + "/" + p.metadata.Name, role: p.note("volcano.sh/task-spec"),
		node: cmp.Or(p.spec.NodeName, binding), specNode: cmp.Or(p.spec.NodeName, binding),
		preemptable: p.note("volcano.sh/preemptable") != "false"}
	var err error
	if t.resreq, t.initResreq, err = p.requests(); err != nil {
		return nil, fmt.Errorf("pod %s: %w", t.key, err)
	}
	switch {
	case p.phase == "Succeeded":
		t.status = statusSucceeded
	case p.phase == "Failed":
		t.status = statusFailed
	case p.metadata.DeletionTimestamp != "":
		t.status = statusReleasing
	case p.phase == "Running":
		t.status = statusRunning
	case p.spec.NodeName != "":
		t.status = statusBound
	case binding != "":
		t.status = statusBinding
	case p.phase == "Pending" || p.phase == "":
		t.status = statusPending
	default:
		t.status = statusUnknown
	}
	return t, nil
}

func addToJob(jobs map[string]*job, t *task, minimum int) error {
	namespace, name := t.pod.metadata.Namespace, t.pod.group()
	uid := namespace + "/" + name
	j := jobs[uid]
	if j == nil {
		queue := cmp.Or(t.pod.note("scheduling.volcano.sh/queue-name"), t.pod.note("volcano.sh/queue-name"), "default")
		j = &job{uid: uid, name: name, namespace: namespace, queue: queue, min: minimum,
			created: t.pod.metadata.CreationTimestamp}
		jobs[uid] = j
	}
	if text := t.pod.note("scheduling.volcano.sh/group-min-member"); text != "" {
		members, err := strconv.Atoi(text)
		if err != nil || members < 1 {
			return fmt.Errorf("pod %s: group-min-member is %q, not a number from 1", t.key, text)
		}
		j.min = members
	}
	j.created = min(j.created, t.pod.metadata.CreationTimestamp)
	j.priority = max(j.priority, t.pod.spec.Priority)
	j.tasks = append(j.tasks, t)
	t.job = j
	return nil
}

func (j *job) finish(enqueued map[string]bool) {
	slices.SortFunc(j.tasks, func(a, b *task) int {
		return cmp.Or(cmp.Compare(b.pod.spec.Priority, a.pod.spec.Priority),
			cmp.Compare(a.pod.metadata.CreationTimestamp, b.pod.metadata.CreationTimestamp), byName(a.key, b.key))
	})
	if j.min == 0 {
		j.min = len(j.tasks)
	}
	j.enqueued = enqueued[j.uid] || j.readyTasks() > 0
}
