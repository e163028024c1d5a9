package main

import (
	"cmp"
	"slices"
)

// The actions "preempt" and "reclaim": who is evicted is chosen by Volcano; the extender may have a vote.

func (s *session) preemptAction() {
	s.makeRoom("preemptable", func(evictor *job, t *task) bool {
		return t.job.queue == evictor.queue && t.job.priority < evictor.priority
	})
}

func (s *session) reclaimAction() {
	s.makeRoom("reclaimable", func(evictor *job, t *task) bool { return t.job.queue != evictor.queue })
}

func (s *session) makeRoom(vote string, eligible func(*job, *task) bool) {
	for _, j := range s.snapshot.jobs {
		if !s.may(j) || s.hard(j) || s.pipelined(j) {
			continue
		}
		stmt := &statement{session: s}
		for _, t := range j.pending() {
			if s.pipelined(j) {
				break
			}
			s.evictFor(stmt, t, vote, eligible)
		}
		if s.pipelined(j) {
			stmt.commit()
		} else {
			stmt.discard()
		}
	}
}

func (s *session) evictFor(stmt *statement, t *task, vote string, eligible func(*job, *task) bool) {
	var nodes []*nodeState
	for _, n := range s.snapshot.nodes {
		if !s.unresolvable[t.key+" "+n.name] {
			nodes = append(nodes, n)
		}
	}
	anyRoom := func(*nodeState) bool { return true }
	found := s.predicates(t, nodes, map[string]bool{}, anyRoom, func(code int) bool { return code != codeOK && code != codeUnschedulable })
	// Two groups, of which the second, nodes of another shard, is empty; both are scored.
	for _, group := range [][]*nodeState{found, nil} {
		for _, n := range s.sorted(t, group) {
			if s.evictOn(stmt, t, n, vote, eligible) {
				return
			}
		}
	}
}

// Evicts the least important until there is room, and puts the task in line for it.
func (s *session) evictOn(stmt *statement, t *task, n *nodeState, vote string, eligible func(*job, *task) bool) bool {
	var victims []*task
	for _, other := range n.tasks {
		if other.job != nil && other.job != t.job && other.preemptable && eligible(t.job, other) &&
			other.status&(statusBound|statusRunning) != 0 {
			victims = append(victims, other)
		}
	}
	slices.SortFunc(victims, func(a, b *task) int {
		return cmp.Or(cmp.Compare(a.job.priority, b.job.priority), byName(a.key, b.key))
	})
	if len(victims) > 0 && s.uses(vote) && s.extender.interested(t) {
		if chosen, opinion := s.extender.victims(s.ctx, vote, t, victims); opinion != abstain {
			victims = slices.DeleteFunc(victims, func(v *task) bool { return !slices.Contains(chosen, v) })
		}
	}
	after := n.futureIdle()
	for _, v := range victims {
		after.add(v.resreq)
	}
	if !t.initResreq.fits(after) {
		return false
	}
	mine, evicted := &statement{session: s}, false
	for _, v := range victims {
		if t.initResreq.fits(n.futureIdle()) {
			break
		}
		if v.job.min > 1 && v.job.readyTasks()-1 < v.job.min {
			continue // its gang would lack a member
		}
		mine.evict(v)
		evicted = true
	}
	if !t.initResreq.fits(n.futureIdle()) || mine.pipeline(t, n, evicted) != nil {
		mine.discard()
		return false
	}
	stmt.done = append(stmt.done, mine.done...)
	return true
}
