package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Comparisons with what the real one sent, where these files are.

func captures() string {
	folder := os.Getenv("CHIPWEAVE_SHARED_DATA")
	if folder == "" {
		folder = "../../../shared/data"
	}
	return filepath.Join(folder, "captures")
}

func capturedSequence(t *testing.T) []string {
	text, err := os.ReadFile(filepath.Join(captures(), "volcano-hypernode-call-sequence.txt"))
	if err != nil {
		t.Log("not compared with what was captured:", err)
		return nil
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.Join(strings.Fields(line)[1:], " "))
		}
	}
	return lines
}

// Every key that Volcano sent is sent, and no other, except inside of the API server's objects.
func TestBodiesHaveTheKeysOfTheCaptures(t *testing.T) {
	if _, err := os.Stat(captures()); err != nil {
		t.Skip("the captures are not here; CHIPWEAVE_SHARED_DATA says where: ", err)
	}
	f, m := newFake(t), newMemory(t, "n1", "n2", "n3")
	m.add("w-0", "g", 8, 0)
	m.add("w-1", "g", 8, 0)
	d := driverOf(t, f, m, "--verbs", allVerbs)
	d.once(t)
	f.answer["preemptable"] = func(c call) string { return `{"status":0}` }
	m.add("full", "h", 8, 0)
	d.once(t)
	m.add("high", "k", 8, 100)
	m.add("other", "l", 8, 0, "scheduling.volcano.sh/queue-name", "q2")
	d.options.session.actions = []string{"enqueue", "allocate", "preempt", "reclaim"}
	d.once(t)
	m.add("gone", "x", 8, 0) // its allocation is taken back, which leaves a last transaction
	m.add("gone-2", "x", 8, 0)
	for _, name := range []string{"w-0", "w-1"} {
		delete(m.pods, name)
	}
	m.add("third", "x", 8, 0)
	d.options.session.actions = []string{"enqueue", "allocate"}
	d.once(t)
	var ours, theirs [][]byte
	for verb := range strings.SplitSeq(allVerbs, ",") {
		text, err := os.ReadFile(filepath.Join(captures(), "volcano-"+verb+".json"))
		if verb == "jobEnqueued" && err != nil {
			continue // of a later version than the one that was captured
		}
		bodies := f.bodies(verb)
		if err != nil || len(bodies) == 0 {
			t.Errorf("%s: %d bodies, capture: %v", verb, len(bodies), err)
			continue
		}
		same(t, onlyOf("body.", keysOf(t, bodies...)), onlyOf("body.", keysOf(t, text)))
		ours, theirs = append(ours, bodies...), append(theirs, text)
	}
	same(t, keysOf(t, ours...), keysOf(t, theirs...))
	null, err := os.ReadFile(filepath.Join(captures(), "volcano-prioritize-null-nodes.json"))
	if err != nil {
		t.Fatal(err)
	}
	withNull := slices.DeleteFunc(f.bodies("prioritize"), func(body []byte) bool { return !strings.HasSuffix(string(body), `"nodes":null}`) })
	if len(withNull) == 0 {
		t.Fatal("prioritize was never asked about no nodes")
	}
	same(t, keysOf(t, withNull...), keysOf(t, null))
}

func onlyOf(prefix string, keys []string) []string {
	return slices.DeleteFunc(keys, func(key string) bool { return !strings.HasPrefix(key, prefix) })
}

func (f *fake) bodies(verb string) [][]byte {
	f.lock.Lock()
	defer f.lock.Unlock()
	var found [][]byte
	for _, c := range f.seen {
		if c.verb == verb {
			found = append(found, c.body)
		}
	}
	return found
}

// The kind of object of each key; the contents of objects from the API server are not compared.
var kinds = map[string]string{"task": "TaskInfo", "evictor": "TaskInfo", "evictees": "TaskInfo", "Tasks": "TaskInfo",
	"TaskStatusIndex": "TaskInfo", "node": "NodeInfo", "nodes": "NodeInfo", "Nodes": "NodeInfo", "job": "JobInfo",
	"Jobs": "JobInfo", "SubJobs": "SubJobInfo", "queue": "QueueInfo", "Queues": "QueueInfo", "Resreq": "Resource",
	"InitResreq": "Resource", "Idle": "Resource", "Used": "Resource", "Releasing": "Resource", "Pipelined": "Resource",
	"Allocatable": "Resource", "Capacity": "Resource", "OversubscriptionResource": "Resource", "Allocated": "Resource",
	"TotalRequest": "Resource"}

// Keys of a body by the kind of object that they are in, "Kind.Key" each. Names that are keys of a map are left out.
func keysOf(t *testing.T, bodies ...[]byte) []string {
	levelsOf := map[string]int{"Tasks": 1, "TaskStatusIndex": 2, "SubJobs": 1, "Nodes": 1, "Jobs": 1, "Queues": 1}
	opaque := map[string]bool{"Pod": true, "Node": true, "PodGroup": true, "Queue": true, "ScalarResources": true,
		"TaskToSubJob": true, "TaskMinAvailable": true, "LastTransaction": true}
	found := map[string]bool{}
	var walk func(kind string, levels int, value any)
	walk = func(kind string, levels int, value any) {
		switch v := value.(type) {
		case map[string]any:
			for key, inner := range v {
				if levels > 0 {
					walk(kind, levels-1, inner)
					continue
				}
				found[kind+"."+key] = true
				if opaque[key] {
					continue
				}
				below := kinds[key]
				if below == "" {
					below = kind + "." + key
				}
				walk(below, levelsOf[key], inner)
			}
		case []any:
			for _, inner := range v {
				walk(kind, levels, inner)
			}
		}
	}
	for _, body := range bodies {
		var value any
		if err := json.Unmarshal(body, &value); err != nil {
			t.Fatal(err)
		}
		walk("body", 0, value)
	}
	return slices.Sorted(maps.Keys(found))
}
