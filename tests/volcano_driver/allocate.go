package main

import (
	"bytes"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// The action "allocate": gangs that fit are committed, others are taken back, again in every session.

const parallelPredicates = 16

func (s *session) allocateAction() {
	overused := map[string]bool{}
	for _, j := range s.snapshot.jobs {
		left := j.pending()
		if !s.may(j) || len(left) == 0 {
			continue
		}
		for len(left) > 0 && !overused[j.queue] {
			if overused[j.queue] = s.uses("queueOverused") && s.extender.overused(s.ctx, j.queue); overused[j.queue] {
				break
			}
			var done bool
			if left, done = s.tryJob(j, left); done {
				break
			}
		}
	}
}

func (s *session) may(j *job) bool {
	return j.enqueued && len(j.tasks)-j.count(statusFailed) >= j.min
}

// One turn of a job: what is left of its tasks, and whether it is over for this session.
func (s *session) tryJob(j *job, left []*task) ([]*task, bool) {
	for range s.options.storm - 1 {
		again := slices.Clone(left)
		if done := s.allocateGang(j, &again); done != nil {
			done.discard()
		}
	}
	done := s.allocateGang(j, &left)
	if done == nil {
		s.told.Unready = append(s.told.Unready, j.uid)
		return left, true
	}
	if !s.ready(j) { // its tasks stay where they are until the session ends, of which the extender is not told
		s.told.Pipelined = append(s.told.Pipelined, j.uid)
		return left, true
	}
	if len(done.done) > 0 {
		s.told.Ready = append(s.told.Ready, j.uid)
	}
	if s.options.neverCommit {
		s.held = append(s.held, done)
	} else {
		done.commit()
	}
	return left, false
}

// A statement that holds the job, or nil if nothing of it is left.
func (s *session) allocateGang(j *job, left *[]*task) *statement {
	if s.hard(j) {
		return s.allocateInDomains(j, left)
	}
	return s.allocateTasks(j, left, s.snapshot.nodes)
}

// Whether it has all members that it needs, and the extender agrees.
func (s *session) ready(j *job) bool {
	return j.readyTasks() >= j.min && (!s.uses("jobReady") || s.extender.jobReady(s.ctx, j, s.hard(j)))
}

func (s *session) pipelined(j *job) bool { return j.readyTasks()+j.count(statusPipelined) >= j.min }

// Tasks are taken from `left` until the job is ready.
func (s *session) allocateTasks(j *job, left *[]*task, nodes []*nodeState) *statement {
	stmt := &statement{session: s}
	refused := map[string]bool{} // role and node; "no" for one task answers for its siblings
	failed := map[string]bool{}  // roles; where one task found no node its siblings are not tried
	for len(*left) > 0 {
		t := (*left)[0]
		*left = (*left)[1:]
		if failed[t.role] {
			continue
		}
		found := s.candidates(t, nodes, refused)
		if len(found) == 0 {
			failed[t.role] = t.role != ""
			if j.min < len(j.tasks) {
				continue
			}
			break
		}
		best := s.best(t, found)
		if best == nil {
			continue
		}
		var err error
		if t.initResreq.fits(best.idle) {
			err = stmt.allocate(t, best)
		} else {
			err = stmt.pipeline(t, best, false)
		}
		if err == nil && s.ready(j) {
			break
		}
	}
	if s.ready(j) || s.pipelined(j) {
		return stmt
	}
	stmt.discard()
	return nil
}

// Nodes for the task; the one for which others were evicted, or that its status names, goes first, and alone.
func (s *session) candidates(t *task, nodes []*nodeState, refused map[string]bool) []*nodeState {
	room := func(n *nodeState) bool { return t.initResreq.fits(n.futureIdle()) }
	refuses := func(code int) bool { return code != codeOK }
	nominated := s.snapshot.byName[s.nominated[t.pod.metadata.UID]]
	if nominated == nil && s.options.nominations {
		nominated = s.snapshot.byName[t.pod.nominated]
	}
	if nominated != nil && slices.Contains(nodes, nominated) && room(nominated) {
		if found := s.predicates(t, []*nodeState{nominated}, refused, room, refuses); len(found) > 0 {
			return found
		}
	}
	return s.predicates(t, nodes, refused, room, refuses)
}

// Hard topology: each domain is tried twice and taken back twice, then one in which the job fits is done again.
func (s *session) allocateInDomains(j *job, left *[]*task) *statement {
	type solution struct {
		done []operation
		left []*task
	}
	var found []solution
	for _, domain := range s.options.hyperNodes {
		rest := slices.Clone(*left)
		first := s.allocateTasks(j, &rest, s.nodesOf(domain))
		if first == nil || len(first.done) == 0 {
			continue
		}
		done := slices.Clone(first.done)
		first.discard()
		second := &statement{session: s}
		if err := second.replay(done); err != nil {
			return nil
		}
		found = append(found, solution{done, rest})
		second.discard()
	}
	if len(found) == 0 {
		return nil
	}
	winner := found[s.random.IntN(len(found))]
	last := &statement{session: s}
	if err := last.replay(winner.done); err != nil {
		return nil
	}
	*left = winner.left
	return last
}

func (s *session) nodesOf(domain hyperNode) []*nodeState {
	var found []*nodeState
	for _, name := range domain.nodes {
		if n := s.snapshot.byName[name]; n != nil {
			found = append(found, n)
		}
	}
	return found
}

// Nodes that take the task, in no order; no more of them than Volcano looks for. `room` is what Volcano itself asks for;
// refuses tells which codes of the extender mean no.
func (s *session) predicates(t *task, nodes []*nodeState, refused map[string]bool, room func(*nodeState) bool,
	refuses func(code int) bool) []*nodeState {
	if len(nodes) == 0 {
		return nil
	}
	wanted, start := s.options.sampling.wanted(len(nodes)), s.turn
	ask := s.uses("predicate") && s.extender.interested(t)
	var before []byte
	if ask {
		before = slices.Concat([]byte(`{"task":`), mustMarshal(t.info()), []byte(`,"node":`))
	}
	var next, processed atomic.Int64
	var lock sync.Mutex
	var found []*nodeState
	known, full := maps.Clone(refused), false
	work := func() {
		for {
			index := int(next.Add(1)) - 1
			lock.Lock()
			stop := full || index >= len(nodes)
			lock.Unlock()
			if stop {
				return
			}
			n := nodes[(start+index)%len(nodes)]
			processed.Add(1)
			answer := verdict{}
			if !n.ready || n.unschedulable || !room(n) || !s.options.noCache && t.role != "" && known[t.role+" "+n.name] {
				answer.code = codeError
			} else if ask {
				answer = s.extender.predicate(s.ctx, slices.Concat(before, n.json(), []byte("}")))
			}
			lock.Lock()
			if answer.message != "" {
				s.told.Reasons[answer.message]++
				s.unresolvable[t.key+" "+n.name] = answer.code == codeUnresolvable
			}
			switch {
			case refuses(answer.code):
				refused[t.role+" "+n.name] = true
			case len(found) < wanted:
				found = append(found, n)
			default:
				full = true
			}
			lock.Unlock()
		}
	}
	var all sync.WaitGroup
	for range min(parallelPredicates, len(nodes)) {
		all.Add(1)
		go func() {
			defer all.Done()
			work()
		}()
	}
	all.Wait()
	s.turn = (start + int(processed.Load())) % len(nodes)
	return found
}

// The node for the task: of those with room now, else of those that will have it.
func (s *session) best(t *task, nodes []*nodeState) *nodeState {
	var now, later []*nodeState
	for _, n := range nodes {
		if t.initResreq.fits(n.idle) {
			now = append(now, n)
		} else {
			later = append(later, n)
		}
	}
	for _, group := range [][]*nodeState{now, later} {
		if len(group) == 1 {
			return group[0]
		}
		if len(group) == 0 {
			continue
		}
		if sorted := s.sorted(t, group); len(sorted) > 0 {
			return sorted[0]
		}
	}
	return nil
}

// By score, the best first, equal ones at random; none after an error of the extender.
func (s *session) sorted(t *task, nodes []*nodeState) []*nodeState {
	var scores map[string]float64
	if s.uses("prioritize") && s.extender.interested(t) {
		var err error
		if scores, err = s.extender.prioritize(s.ctx, prioritizeBody(t, nodes)); err != nil {
			return nil
		}
	}
	mixed := slices.Clone(nodes)
	s.random.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	slices.SortStableFunc(mixed, func(a, b *nodeState) int {
		switch difference := scores[b.name] - scores[a.name]; {
		case difference > 0:
			return 1
		case difference < 0:
			return -1
		}
		return 0
	})
	return mixed
}

func prioritizeBody(t *task, nodes []*nodeState) []byte {
	body := slices.Concat([]byte(`{"task":`), mustMarshal(t.info()), []byte(`,"nodes":`))
	if nodes == nil {
		return append(body, "null}"...)
	}
	parts := make([][]byte, len(nodes))
	for i, n := range nodes {
		parts[i] = n.json()
	}
	return slices.Concat(body, []byte("["), bytes.Join(parts, []byte(",")), []byte("]}"))
}

// How many nodes Volcano looks for where there are many.
type sampling struct {
	percentage int // 0: fewer of many nodes
	least      int
}

func (s sampling) wanted(nodes int) int {
	if nodes <= s.least || s.percentage >= 100 {
		return nodes
	}
	percentage := s.percentage
	if percentage <= 0 {
		percentage = max(5, 50-nodes/125)
	}
	return max(s.least, nodes*percentage/100)
}
