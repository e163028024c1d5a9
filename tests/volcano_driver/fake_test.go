package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

const gpu = "nvidia.com/gpu"

// An extender that records its requests and accepts everything unless a test sets another answer.
type fake struct {
	server *httptest.Server
	lock   sync.Mutex
	seen   []call
	answer map[string]func(c call) string // by verb; a number answers with that status
}

type call struct {
	verb string
	body []byte
	form struct {
		Task    taskInfo
		Node    struct{ Name string }
		Nodes   []struct{ Name string }
		Job     jobInfo
		Evictor taskInfo
	}
}

var agrees = map[string]string{"onSessionOpen": "", "onSessionClose": "", "prioritize": `{"nodeScore":{}}`,
	"jobEnqueueable": `{"status":1}`, "jobReady": `{"status":true}`, "preemptable": `{"status":0}`, "reclaimable": `{"status":0}`}

func newFake(t *testing.T) *fake {
	f := &fake{answer: map[string]func(call) string{}}
	f.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := call{verb: strings.TrimPrefix(r.URL.Path, "/volcano/")}
		c.body, _ = io.ReadAll(r.Body)
		err := json.Unmarshal(c.body, &c.form)
		if c.verb == "onSessionOpen" { // its nodes and jobs are maps
			err = nil
		}
		if err != nil || r.Method != http.MethodPost {
			t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
		}
		f.lock.Lock()
		f.seen = append(f.seen, c)
		answer := f.answer[c.verb]
		f.lock.Unlock()
		text, known := agrees[c.verb]
		if !known {
			text = "{}"
		}
		if answer != nil {
			text = answer(c)
		}
		var status int
		if n, _ := fmt.Sscanf(text, "%d", &status); n == 1 {
			w.WriteHeader(status)
			return
		}
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(f.server.Close)
	return f
}

// One line "verb task status node" each; the node of a predicate is the candidate.
func (f *fake) lines(verbs ...string) []string {
	f.lock.Lock()
	defer f.lock.Unlock()
	var lines []string
	for _, c := range f.seen {
		if len(verbs) > 0 && !strings.Contains(" "+strings.Join(verbs, " ")+" ", " "+c.verb+" ") {
			continue
		}
		t := c.form.Task
		if t.Name == "" {
			lines = append(lines, c.verb)
			continue
		}
		lines = append(lines, fmt.Sprint(c.verb, " ", t.Name, " ", t.Status, " ", cmp.Or(c.form.Node.Name, t.NodeName, "-")))
	}
	return lines
}

func (f *fake) forget() {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.seen = nil
}

// Nodes of 8 chips and pods, in memory; bindings are kept.
type memory struct {
	nodes   []*node
	pods    map[string]map[string]any // by name
	order   []string
	bound   map[string]string
	evicted []string
	test    *testing.T
}

func newMemory(t *testing.T, nodes ...string) *memory {
	m := &memory{pods: map[string]map[string]any{}, bound: map[string]string{}, test: t}
	for _, name := range nodes {
		amounts := map[string]string{"cpu": "64", "memory": "256Gi", "pods": "110", gpu: "8"}
		n, err := readNode(mustMarshal(map[string]any{"metadata": map[string]any{"name": name}, "spec": struct{}{}, "status": map[string]any{
			"allocatable": amounts, "capacity": amounts, "conditions": []map[string]string{{"type": "Ready", "status": "True"}}}}))
		if err != nil {
			t.Fatal(err)
		}
		m.nodes = append(m.nodes, n)
	}
	return m
}

func (m *memory) add(name, group string, chips, priority int, notes ...string) {
	annotations := map[string]string{"scheduling.k8s.io/group-name": group, "volcano.sh/task-spec": "worker"}
	for i := 0; i+1 < len(notes); i += 2 {
		annotations[notes[i]] = notes[i+1]
	}
	m.pods[name] = map[string]any{"metadata": map[string]any{"name": name, "namespace": "default", "uid": "uid-" + name,
		"creationTimestamp": fmt.Sprintf("2026-01-02T03:04:%02dZ", len(m.order)), "annotations": annotations},
		"spec": map[string]any{"schedulerName": "volcano", "priority": priority, "containers": []any{map[string]any{"name": "c",
			"resources": map[string]any{"limits": map[string]string{"cpu": "1", gpu: fmt.Sprint(chips)}}}}},
		"status": map[string]any{"phase": "Pending"}}
	m.order = append(m.order, name)
}

func (m *memory) change(name, part, key string, value any) {
	m.pods[name][part].(map[string]any)[key] = value
}

func (m *memory) look(context.Context) ([]*node, []*pod, map[string]string, error) {
	var pods []*pod
	for _, name := range m.order {
		if m.pods[name] == nil {
			continue
		}
		p, err := readPod(mustMarshal(m.pods[name]))
		if err != nil {
			m.test.Fatal(err)
		}
		pods = append(pods, p)
	}
	return m.nodes, pods, nil, nil
}

func (m *memory) bind(t *task) {
	m.bound[t.pod.metadata.Name] = t.node
	m.change(t.pod.metadata.Name, "spec", "nodeName", t.node)
}
func (m *memory) evict(t *task)      { m.evicted = append(m.evicted, t.pod.metadata.Name) }
func (m *memory) outcomes() outcomes { return noOutcomes() }
func (m *memory) binding() int       { return 0 }
func (m *memory) wait(time.Duration) {}

// A driver of the flags over the fake and the cluster in memory.
func driverOf(t *testing.T, f *fake, m *memory, flags ...string) *driver {
	o, err := parse(append([]string{"--server", "unused", "--extender", f.server.URL + "/volcano/"}, flags...))
	if err != nil {
		t.Fatal(err)
	}
	extenders, err := o.makeExtenders()
	if err != nil {
		t.Fatal(err)
	}
	d := newDriver(o, m, extenders)
	d.random = rand.New(rand.NewPCG(o.seed, 1))
	return d
}

func (d *driver) once(t *testing.T) sessionLine {
	line := d.session(context.Background(), d.extenders[0])
	if line.Error != "" {
		t.Fatal(line.Error)
	}
	return line
}
