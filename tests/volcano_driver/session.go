package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
)

// The code of a predicate's answer that preemption cannot change.
const codeUnresolvable = 3

type hyperNode struct {
	name  string
	nodes []string
}

// How a session goes.
type sessionOptions struct {
	actions     []string // enqueue, allocate, preempt, reclaim, in this order of doing
	hyperNodes  []hyperNode
	sampling    sampling
	storm       int  // how often a gang is tried in one session, the last time in earnest
	neverCommit bool // what is allocated is taken back at the end
	noCache     bool // Volcano's predicateErrorCacheEnable: false
	nominations bool // the nodes in pods' status.nominatedNodeName go first
}

// What a session did, as it is printed.
type told struct {
	Pending        int            `json:"pending"` // tasks at its beginning
	Ready          []string       `json:"ready"`   // jobs
	Unready        []string       `json:"unready"`
	Pipelined      []string       `json:"pipelined"`
	Evicted        []string       `json:"evicted"`
	AllocateErrors int            `json:"allocate_errors"`
	PluginOff      bool           `json:"plugin_off"` // onSessionOpen failed
	Reasons        map[string]int `json:"reasons"`    // words of predicates, and how often
}

// One scheduling session over a snapshot, in Volcano's order of calls.
type session struct {
	ctx      context.Context
	options  *sessionOptions
	snapshot *snapshot
	extender *extender // nil: not there in this session
	backend  backend
	*memories
	unresolvable map[string]bool // task and node that no eviction helps
	held         []*statement    // of neverCommit
	told         told
}

// What is kept from session to session.
type memories struct {
	random    *rand.Rand
	turn      int               // the node at which the next predicates begin
	enqueued  map[string]bool   // jobs that were let in
	nominated map[string]string // uids of pods, and the nodes where others were evicted for them
}

func newSession(ctx context.Context, options *sessionOptions, snap *snapshot, e *extender, b backend, m *memories) *session {
	return &session{ctx: ctx, options: options, snapshot: snap, extender: e, backend: b, memories: m,
		unresolvable: map[string]bool{}, told: told{Ready: []string{}, Unready: []string{}, Pipelined: []string{}, Evicted: []string{}, Reasons: map[string]int{}}}
}

func (s *session) uses(action string) bool { return s.extender != nil && s.extender.has(action) }

func (s *session) event(action string, t *task) error {
	if s.extender == nil {
		return nil
	}
	return s.extender.event(s.ctx, action, t)
}

func (s *session) hard(j *job) bool { return len(s.options.hyperNodes) > 0 && j.min > 1 }

func (s *session) run() {
	for _, j := range s.snapshot.jobs {
		s.told.Pending += len(j.pending())
	}
	plugin := s.extender
	if s.uses("onSessionOpen") && plugin.openSession(s.ctx, s.openBody()) != nil {
		s.extender, s.told.PluginOff = nil, true
	}
	do := map[string]func(){"enqueue": s.enqueueAction, "allocate": s.allocateAction,
		"preempt": s.preemptAction, "reclaim": s.reclaimAction}
	if !slices.Contains(s.options.actions, "enqueue") {
		for _, j := range s.snapshot.jobs {
			j.enqueued = true
		}
	}
	for _, action := range s.options.actions {
		do[action]()
	}
	for _, stmt := range slices.Backward(s.held) {
		stmt.discard()
	}
	plugin.closeSession(s.ctx)
}

// Lets new jobs in; an extender may keep them out.
func (s *session) enqueueAction() {
	for _, j := range s.snapshot.jobs {
		if j.enqueued || s.uses("jobEnqueueable") && s.extender.enqueueable(s.ctx, j) == reject {
			continue
		}
		if s.uses("jobEnqueued") {
			s.extender.enqueued(s.ctx, j)
		}
		j.enqueued, s.enqueued[j.uid] = true, true
	}
}

func (s *session) openBody() []byte {
	type namespaceInfo struct{ Name string }
	body := struct {
		Jobs           map[string]*jobInfo
		Nodes          map[string]json.RawMessage
		Queues         map[string]*queueInfo
		NamespaceInfo  map[string]namespaceInfo
		RevocableNodes map[string]json.RawMessage
		NodeList       any
	}{map[string]*jobInfo{}, map[string]json.RawMessage{}, map[string]*queueInfo{"root": queueOf("root")}, map[string]namespaceInfo{},
		map[string]json.RawMessage{}, nil}
	for _, j := range s.snapshot.jobs {
		body.Jobs[j.uid] = j.info(true, s.hard(j))
		body.Queues[j.queue] = queueOf(j.queue)
	}
	for _, n := range s.snapshot.nodes {
		body.Nodes[n.name] = n.json()
	}
	return mustMarshal(body)
}
