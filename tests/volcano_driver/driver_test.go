package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

const allVerbs = "onSessionOpen,onSessionClose,predicate,prioritize,preemptable,reclaimable,queueOverused,jobEnqueueable," +
	"jobEnqueued,jobReady,allocate,deallocate"

func same(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestGangThatFits(t *testing.T) {
	f, m := newFake(t), newMemory(t, "n1", "n2")
	f.answer["prioritize"] = func(call) string { return `{"nodeScore":{"n2":7.5}}` }
	m.add("w-0", "g", 8, 0)
	m.add("w-1", "g", 8, 0)
	d := driverOf(t, f, m, "--verbs", allVerbs)
	line := d.once(t)
	lines := f.lines()
	slices.Sort(lines[4:6]) // predicates of one task are called at the same time
	same(t, lines, []string{"onSessionOpen", "jobEnqueueable", "jobEnqueued", "queueOverused", "predicate w-0 1 n1",
		"predicate w-0 1 n2", "prioritize w-0 1 -", "allocate w-0 2 n2", "predicate w-1 1 n1", "allocate w-1 2 n1",
		"jobReady", "jobReady", "jobReady", "onSessionClose"})
	if m.bound["w-0"] != "n2" || m.bound["w-1"] != "n1" || !slices.Equal(line.Ready, []string{"default/g"}) {
		t.Error(m.bound, line.Ready)
	}
	f.forget()
	d.once(t)
	same(t, f.lines(), []string{"onSessionOpen", "onSessionClose"})
}

func TestGangThatDoesNotFitIsTriedInEverySession(t *testing.T) {
	f, m := newFake(t), newMemory(t, "n1")
	m.add("w-0", "g", 8, 0)
	m.add("w-1", "g", 8, 0)
	d := driverOf(t, f, m)
	for range 3 {
		f.forget()
		d.once(t)
		same(t, f.lines(), []string{"predicate w-0 1 n1", "allocate w-0 2 n1", "deallocate w-0 1 n1"})
	}
	d.options.session.storm = 2
	f.forget()
	line := d.once(t)
	same(t, f.lines("allocate", "deallocate"), slices.Repeat([]string{"allocate w-0 2 n1", "deallocate w-0 1 n1"}, 2))
	if len(m.bound) > 0 || !slices.Equal(line.Unready, []string{"default/g"}) {
		t.Error(m.bound, line.Unready)
	}
}

// As seen once with the real one, in order; the names of domains and nodes are ours.
func TestHyperNodes(t *testing.T) {
	f, m := newFake(t), newMemory(t, "n1", "n2", "n3", "n4")
	f.answer["prioritize"] = func(call) string { return `{"nodeScore":{"n4":2,"n1":1}}` }
	m.add("topo-worker-0", "topo", 8, 0)
	m.add("topo-worker-1", "topo", 8, 0)
	driverOf(t, f, m, "--hypernode", "s1=n3,n4", "--hypernode", "s0=n1,n2").once(t)
	var want []string
	for _, domain := range [][2]string{{"n4", "n3"}, {"n1", "n2"}} {
		try := []string{"allocate topo-worker-0 2 " + domain[0], "allocate topo-worker-1 2 " + domain[1]}
		undo := []string{"deallocate topo-worker-1 1 " + domain[1], "deallocate topo-worker-0 1 " + domain[0]}
		want = slices.Concat(want, try, undo, try, undo)
	}
	got := f.lines("allocate", "deallocate")
	winner := want[:2]
	if m.bound["topo-worker-0"] == "n1" {
		winner = want[8:10]
	}
	same(t, got, append(want, winner...))
	captured := capturedSequence(t)
	if captured == nil {
		return
	}
	if m.bound["topo-worker-0"] != "n4" {
		captured[len(captured)-2], captured[len(captured)-1] = "allocate topo-worker-0 2 n1", "allocate topo-worker-1 2 n2"
	}
	same(t, sortedPredicates(f.lines()), sortedPredicates(captured))
}

// Consecutive predicates are called at the same time: sorts them by name.
func sortedPredicates(lines []string) []string {
	for begin := 0; begin < len(lines); begin++ {
		end := begin
		for end < len(lines) && strings.HasPrefix(lines[end], "predicate") {
			end++
		}
		slices.Sort(lines[begin:end])
	}
	return lines
}

// Per-pod answers, which Volcano keeps for all pods of a role.
func TestARefusalToOnePodIsOneToItsRole(t *testing.T) {
	for _, of := range []struct {
		role  string
		flags []string
		bound int
	}{{"worker", nil, 0}, {"", nil, 2}, {"worker", []string{"--no-predicate-error-cache"}, 2}} {
		f, m := newFake(t), newMemory(t, "n1", "n2")
		f.answer["predicate"] = func(c call) string {
			if c.form.Task.Name[2:] == c.form.Node.Name[1:] {
				return "{}"
			}
			return `{"status":"another node","code":3}`
		}
		for _, name := range []string{"w-1", "w-2"} {
			m.add(name, "g", 8, 0, "volcano.sh/task-spec", of.role)
		}
		driverOf(t, f, m, of.flags...).once(t)
		if len(m.bound) != of.bound {
			t.Error(of, m.bound)
		}
	}
}

func TestANominatedNodeGoesFirst(t *testing.T) {
	for _, nominations := range []bool{true, false} {
		f, m := newFake(t), newMemory(t, "n1", "n2", "n3")
		f.answer["prioritize"] = func(call) string { return `{"nodeScore":{"n1":1}}` }
		m.add("one", "g", 8, 0)
		m.change("one", "status", "nominatedNodeName", "n3")
		driverOf(t, f, m, fmt.Sprintf("--nominations=%t", nominations)).once(t)
		if want := map[bool]string{true: "n3", false: "n1"}[nominations]; m.bound["one"] != want {
			t.Error(nominations, m.bound)
		}
	}
}

func TestErrorOfAllocateRollsTheTaskBack(t *testing.T) {
	f, m := newFake(t), newMemory(t, "n1")
	m.add("one", "g", 4, 0)
	f.answer["allocate"] = func(call) string { return `{"errorMessage":"no chips"}` }
	d := driverOf(t, f, m)
	line := d.once(t)
	same(t, f.lines("allocate", "deallocate"), []string{"allocate one 2 n1", "deallocate one 1 n1"})
	if len(m.bound) > 0 || line.AllocateErrors != 1 {
		t.Error(m.bound, line.AllocateErrors)
	}
	f.answer["allocate"] = func(call) string { return "500" }
	if d.once(t); len(m.bound) > 0 {
		t.Error("bound in spite of an error")
	}
	d.extenders[0].ignorable = true
	if d.once(t); m.bound["one"] != "n1" {
		t.Error("not bound though the extender may be ignored")
	}
}

// Victim, then who waits for its place; as long as the victim ends, only that; then the allocation.
func TestPreemption(t *testing.T) {
	f, m := newFake(t), newMemory(t, "n1", "n2")
	m.add("low", "a", 8, 1)
	f.answer["prioritize"] = func(call) string { return `{"nodeScore":{"n1":1}}` }
	d := driverOf(t, f, m, "--actions", "enqueue,allocate,preempt")
	d.once(t)
	m.add("other", "c", 4, 1000)
	d.once(t)
	m.add("high", "b", 8, 1000)
	f.forget()
	d.once(t)
	same(t, f.lines("allocate", "deallocate"), []string{"deallocate low 64 n1", "allocate high 4 n1"})
	same(t, m.evicted, []string{"low"})
	f.answer["prioritize"] = func(call) string { return `{"nodeScore":{"n2":1}}` }
	delete(m.pods, "other") // another node has room now, but this one was made free for it
	m.change("low", "metadata", "deletionTimestamp", "2026-01-02T03:05:00Z")
	f.forget()
	line := d.once(t)
	same(t, f.lines(), []string{"predicate high 1 n1", "allocate high 4 n1"})
	same(t, line.Pipelined, []string{"default/b"})
	delete(m.pods, "low")
	f.forget()
	d.once(t)
	same(t, f.lines(), []string{"predicate high 1 n1", "allocate high 2 n1"})
	if m.bound["high"] != "n1" {
		t.Error(m.bound)
	}
}

func TestExtenderHasAVoteOnVictims(t *testing.T) {
	f, m := newFake(t), newMemory(t, "n1")
	m.add("low-0", "a", 4, 1)
	m.add("low-1", "b", 4, 1)
	d := driverOf(t, f, m, "--verbs", allVerbs, "--actions", "enqueue,allocate,preempt")
	d.once(t)
	m.add("high", "c", 4, 1000)
	answerOnly := func(keep func(evictee json.RawMessage) bool) func(call) string {
		return func(c call) string {
			var request struct{ Evictees []json.RawMessage }
			if err := json.Unmarshal(c.body, &request); err != nil {
				t.Error(err)
			}
			chosen := slices.DeleteFunc(request.Evictees, func(e json.RawMessage) bool { return !keep(e) })
			return fmt.Sprintf(`{"status":1,"victims":%s}`, mustMarshal(chosen))
		}
	}
	f.answer["preemptable"] = answerOnly(func(e json.RawMessage) bool { return false })
	d.once(t)
	same(t, m.evicted, nil)
	f.answer["preemptable"] = func(call) string { return `{"status":1,"victims":[{"UID":"uid-low-1"}]}` }
	if line := d.once(t); line.Verbs["preemptable"].Errors != 1 {
		t.Error("a victim that is only a uid is no error")
	}
	same(t, m.evicted, nil)
	f.answer["preemptable"] = answerOnly(func(e json.RawMessage) bool { return strings.Contains(string(e), `"Name":"low-1"`) })
	d.once(t)
	same(t, m.evicted, []string{"low-1"})
}

func TestPredicateCodes(t *testing.T) {
	for _, row := range []struct {
		reply          string
		allocates, can bool // for allocation, for preemption
	}{
		{`{}`, true, true}, {`{"status":"","code":3}`, true, true}, {`{"status":"busy","code":2}`, false, true},
		{`{"status":"never","code":3}`, false, false}, {`{"status":"no code"}`, false, false},
		{`{"status":"busy","code":2.0}`, false, false}, {``, false, false}, {`{"status":"wait","code":4}`, false, false},
		{`{"STATUS":"busy","CODE":2} and more`, false, true}, {`[]`, false, false}, {"404", false, false},
	} {
		f, m := newFake(t), newMemory(t, "n1")
		m.add("low", "a", 8, 1)
		d := driverOf(t, f, m, "--actions", "enqueue,allocate,preempt")
		d.once(t)
		f.answer["predicate"] = func(call) string { return row.reply }
		m.add("high", "b", 8, 1000)
		d.once(t)
		if evicts := len(m.evicted) > 0; evicts != row.can {
			t.Errorf("%q: preempts %v", row.reply, evicts)
		}
		delete(m.pods, "low")
		d.once(t)
		if allocates := m.bound["high"] != ""; allocates != row.allocates {
			t.Errorf("%q: allocates %v", row.reply, allocates)
		}
	}
}

func TestPrioritizeReplies(t *testing.T) {
	for reply, good := range map[string]bool{`{"nodeScore":{}}`: true, `{"nodeScore":{"n1":1e2,"n9":3}}`: true, `{}`: false,
		`{"nodeScore":null,"errorMessage":""}`: false, `{"nodeScore":{},"errorMessage":"no"}`: false, `{"nodeScore":{"n1":"1"}}`: false,
		``: false, "500": false, `{"nodeScore":{},"x":"` + strings.Repeat("x", maxReplyBytes) + `"}`: false} {
		f, m := newFake(t), newMemory(t, "n1", "n2")
		f.answer["prioritize"] = func(call) string { return reply }
		m.add("one", "a", 1, 0)
		line := driverOf(t, f, m).once(t)
		if bound := len(m.bound) == 1; bound != good {
			t.Errorf("%.50q: bound %v", reply, bound)
		}
		if failed := line.Verbs["prioritize"].Errors > 0; failed == good && !strings.Contains(reply, `"no"`) {
			t.Errorf("%.50q: counted as an error: %v", reply, failed)
		}
	}
}

// Then no extender is called, and pods go to nodes that the extender would reject.
func TestFailedSessionOpenTurnsThePluginOff(t *testing.T) {
	f, m := newFake(t), newMemory(t, "n1")
	f.answer["onSessionOpen"] = func(call) string { return "500" }
	m.add("one", "a", 1, 0)
	line := driverOf(t, f, m, "--verbs", allVerbs).once(t)
	same(t, f.lines(), []string{"onSessionOpen", "onSessionClose"})
	if m.bound["one"] != "n1" || !line.PluginOff {
		t.Error(m.bound, line.PluginOff)
	}
}

func TestManagedResources(t *testing.T) {
	f, m := newFake(t), newMemory(t, "n1", "n2")
	m.add("one", "a", 1, 0)
	driverOf(t, f, m, "--verbs", allVerbs, "--managed-resources", "huawei.com/Ascend910,amd.com/gpu").once(t)
	same(t, f.lines("predicate", "prioritize", "allocate", "jobReady"), []string{"jobReady", "jobReady", "jobReady"})
	if m.bound["one"] == "" {
		t.Error("not bound")
	}
}

func TestJobThatMayNotEnterIsAskedAboutAgain(t *testing.T) {
	f, m := newFake(t), newMemory(t, "n1")
	f.answer["jobEnqueueable"] = func(call) string { return `{"status":-1}` }
	m.add("one", "a", 1, 0)
	d := driverOf(t, f, m, "--verbs", "jobEnqueueable,predicate")
	for range 2 {
		d.once(t)
	}
	same(t, f.lines(), []string{"jobEnqueueable", "jobEnqueueable"})
	f.answer["jobEnqueueable"] = func(call) string { return `{"status":0}` }
	d.once(t)
	if m.bound["one"] != "n1" {
		t.Error(m.bound)
	}
}

func TestSampling(t *testing.T) {
	for _, row := range [][3]int{{100, 0, 100}, {101, 0, 100}, {1000, 0, 420}, {1000, 10, 100}, {1000, 100, 1000}, {5000, 0, 500}, {20000, 0, 1000}} {
		if wanted := (sampling{row[1], 100}).wanted(row[0]); wanted != row[2] {
			t.Errorf("%d nodes, %d %%: %d", row[0], row[1], wanted)
		}
	}
	names := make([]string, 300)
	for i := range names {
		names[i] = fmt.Sprintf("n%d", i)
	}
	f, m := newFake(t), newMemory(t, names...)
	m.add("one", "a", 1, 0)
	m.add("two", "b", 1, 0)
	line := driverOf(t, f, m).once(t)
	asked := line.Verbs["predicate"].Calls // for each pod 144 nodes, and those that others asked about at the same time
	if asked < 2*(300*48/100) || asked > 2*(300*48/100+parallelPredicates) {
		t.Error(asked)
	}
	first, second := f.bodies("prioritize")[0], f.bodies("prioritize")[1]
	if !strings.Contains(string(first), `"Name":"n100",`) || !strings.Contains(string(second), `"Name":"n200",`) {
		t.Error("the second pod is not tried where the first one's search ended")
	}
}

func TestGangsWithMoreMembersThanTheyNeed(t *testing.T) {
	f, m := newFake(t), newMemory(t, "n1", "n2")
	for i := range 3 {
		m.add(fmt.Sprintf("w-%d", i), "g", 8, 0, "scheduling.volcano.sh/group-min-member", "1")
	}
	line := driverOf(t, f, m).once(t)
	if len(m.bound) != 2 || !slices.Equal(line.Ready, []string{"default/g", "default/g"}) {
		t.Error(m.bound, line.Ready)
	}
	for i := range 2 {
		m.add(fmt.Sprintf("v-%d", i), "h", 1, 0, "scheduling.volcano.sh/group-min-member", "3")
	}
	f.forget()
	driverOf(t, f, m).once(t)
	for _, line := range f.lines() {
		if strings.Contains(line, "v-") {
			t.Error("a gang whose pods are not all there is tried: ", line)
		}
	}
}

func TestBindings(t *testing.T) {
	m := newMemory(t, "n1")
	m.add("one", "a", 1, 0, "example.com/user", "kept")
	_, pods, _, _ := m.look(nil)
	one, err := newTask(pods[0], "")
	if err != nil {
		t.Fatal(err)
	}
	one.node = "n1"
	var binding struct {
		APIVersion, Kind string
		Metadata         struct {
			Name, Namespace, UID string
			Annotations          map[string]string
		}
		Target map[string]string
	}
	if err := json.Unmarshal(bindingOf(one), &binding); err != nil {
		t.Fatal(err)
	}
	b := binding.Metadata
	if b.UID != "uid-one" || b.Namespace != "default" || b.Annotations["example.com/user"] != "kept" || len(b.Annotations) != 3 ||
		len(binding.Target) != 2 || binding.Target["name"] != "n1" || binding.Kind != "Binding" {
		t.Error(binding)
	}
}

func TestQuantities(t *testing.T) {
	for text, want := range map[string]float64{"8": 8, "500m": 0.5, "256Gi": 256 << 30, "1e3": 1000, "2k": 2000, "0": 0, "1.5": 1.5} {
		if got, err := parseQuantity(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x", "1 Gi", "Gi"} {
		if got, err := parseQuantity(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// An init container may ask for more than all others; a sidecar runs beside them.
func TestRequests(t *testing.T) {
	spec := `{"metadata":{"name":"p"},"spec":{"containers":[{"resources":{"limits":{"x.y/z":"2"}}},{"resources":{"requests":{"x.y/z":"1"}}}],
		"initContainers":[{"restartPolicy":"Always","resources":{"limits":{"x.y/z":"1"}}},{"resources":{"limits":{"x.y/z":"6"}}}]}}`
	p, err := readPod(json.RawMessage(spec))
	if err != nil {
		t.Fatal(err)
	}
	running, most, err := p.requests()
	if err != nil || running.ScalarResources["x.y/z"] != 4000 || most.ScalarResources["x.y/z"] != 7000 || running.ScalarResources["pods"] != 1 {
		t.Error(running, most, err)
	}
}

func TestFlags(t *testing.T) {
	good := []string{"--server", "https://x", "--extender", "http://x"}
	for _, bad := range [][]string{nil, good[:2], good[2:], append(good, "--synthetic-nodes", "3"), append(good, "--storm", "0"),
		append(good, "--actions", "backfill"), append(good, "--hypernode", "s0"), append(good, "more"),
		{"--extender", "http://x", "--synthetic-nodes", "3"}} {
		if _, err := parse(bad); err == nil {
			t.Error("accepted: ", bad)
		}
	}
	o, err := parse(append(good, "--verbs", "predicate=p,allocate"))
	if err != nil {
		t.Fatal(err)
	}
	if verbs, err := o.verbsByAction(); err != nil || verbs["predicate"] != "p" || verbs["allocate"] != "allocate" || len(verbs) != 2 {
		t.Error(verbs, err)
	}
	o.verbs = "bind"
	if _, err := o.makeExtenders(); err == nil {
		t.Error("a verb that Volcano does not know is accepted")
	}
}
