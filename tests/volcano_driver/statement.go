package main

import "slices"

// Where a session's decisions end up.
type backend interface {
	bind(t *task)
	evict(t *task)
}

const (
	doAllocate = iota
	doPipeline
	doEvict
)

type operation struct {
	kind int
	task *task
	node string // where it is allocated
}

// Changes of a session that are committed or taken back together. The extender hears of each as it happens, and of those
// that are taken back; it never hears of a commit.
type statement struct {
	session *session
	done    []operation
}

func (s *statement) allocate(t *task, n *nodeState) error {
	t.specNode = n.name
	return s.place(doAllocate, statusAllocated, t, n)
}

// The task waits for resources that are being released there.
func (s *statement) pipeline(t *task, n *nodeState, evicted bool) error {
	t.evicted = evicted
	return s.place(doPipeline, statusPipelined, t, n)
}

func (s *statement) place(kind, status int, t *task, n *nodeState) error {
	t.status, t.node = status, n.name
	n.add(t)
	if err := s.session.event("allocate", t); err != nil {
		s.session.told.AllocateErrors++
		s.takeBack(t)
		return err
	}
	s.done = append(s.done, operation{kind, t, n.name})
	return nil
}

func (s *statement) takeBack(t *task) {
	s.session.snapshot.byName[t.node].remove(t)
	t.status = statusPending
	_ = s.session.event("deallocate", t) // Volcano drops it
	t.node, t.evicted = "", false
}

func (s *statement) evict(t *task) {
	s.change(t, statusReleasing)
	_ = s.session.event("deallocate", t)
	s.done = append(s.done, operation{doEvict, t, t.node})
}

func (s *statement) change(t *task, status int) {
	n := s.session.snapshot.byName[t.node]
	n.remove(t)
	t.status = status
	n.add(t)
}

func (s *statement) discard() {
	for _, op := range slices.Backward(s.done) {
		t := op.task
		t.last = &transaction{NodeName: t.node, EvictionOccurred: t.evicted, Status: t.status}
		if op.kind == doEvict {
			s.change(t, statusRunning)
			_ = s.session.event("allocate", t)
		} else {
			s.takeBack(t)
		}
	}
	s.done = nil
}

func (s *statement) commit() {
	for _, op := range s.done {
		op.task.last = nil
		switch op.kind {
		case doAllocate:
			s.change(op.task, statusBinding)
			s.session.backend.bind(op.task)
		case doPipeline:
			if op.task.evicted {
				s.session.nominated[op.task.pod.metadata.UID] = op.node
			}
		case doEvict:
			s.session.told.Evicted = append(s.session.told.Evicted, op.task.key)
			s.session.backend.evict(op.task)
		}
	}
	s.done = nil
}

// Does again what a statement did that was taken back. After an error what was done so far stays as it is, and nothing of
// it is committed.
func (s *statement) replay(solution []operation) error {
	for _, op := range solution {
		n := s.session.snapshot.byName[op.node]
		var err error
		if op.kind == doPipeline {
			err = s.pipeline(op.task, n, false)
		} else {
			err = s.allocate(op.task, n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
