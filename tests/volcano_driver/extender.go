package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	maxReplyBytes = 10 << 20
	// Voters of a tier that do not care, agree, and refuse.
	abstain, permit, reject = 0, 1, -1
	// Of a predicate's answer.
	codeOK, codeError, codeUnschedulable = 0, 1, 2
)

// The actions of Volcano's extender plugin in the order in which its documentation lists them; a verb of a
// configuration is the last part of a URL and usually has the name of its action.
var actions = []string{"onSessionOpen", "onSessionClose", "predicate", "prioritize", "preemptable", "reclaimable",
	"queueOverused", "jobEnqueueable", "jobEnqueued", "jobReady", "allocate", "deallocate"}

// One extender and how it is configured.
type extender struct {
	name      string
	urlPrefix string
	verbs     map[string]string // by action; an action without one is not registered
	ignorable bool
	managed   map[string]bool // none: every pod is its business
	client    *http.Client
	stats     *stats
}

// With Go's default transport, as Volcano: two connections are kept, the system's roots are trusted.
func newExtender(name, urlPrefix string, verbs map[string]string, ignorable bool, managed map[string]bool, timeout time.Duration) *extender {
	return &extender{name: name, urlPrefix: strings.TrimRight(urlPrefix, "/"), verbs: verbs, ignorable: ignorable,
		managed: managed, client: &http.Client{Timeout: timeout}, stats: newStats()}
}

func (e *extender) has(action string) bool { return e.verbs[action] != "" }

func (e *extender) interested(t *task) bool {
	return len(e.managed) == 0 || t.pod.asksFor(e.managed)
}

// A nil reply is ignored. Otherwise its first JSON value has to be one of the right form.
func (e *extender) call(ctx context.Context, action string, body []byte, reply any) error {
	call := e.stats.begin(action, len(body))
	replyBytes, err := e.send(ctx, action, body, reply)
	call.end(replyBytes, err)
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	return nil
}

func (e *extender) send(ctx context.Context, action string, body []byte, reply any) (int64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.urlPrefix+"/"+e.verbs[action], bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := e.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("status %d", response.StatusCode)
	}
	if reply == nil {
		return 0, nil
	}
	counted := &countingReader{from: http.MaxBytesReader(nil, response.Body, maxReplyBytes)}
	if err := json.NewDecoder(counted).Decode(reply); err != nil {
		return counted.bytes, fmt.Errorf("its reply cannot be used: %w", err)
	}
	return counted.bytes, nil
}

type countingReader struct {
	from  io.Reader
	bytes int64
}

func (c *countingReader) Read(to []byte) (int, error) {
	n, err := c.from.Read(to)
	c.bytes += int64(n)
	return n, err
}

// --- the actions

// An error means that none of the other actions is used in this session.
func (e *extender) openSession(ctx context.Context, body []byte) error {
	if err := e.call(ctx, "onSessionOpen", body, nil); err != nil && !e.ignorable {
		return err
	}
	return nil
}

func (e *extender) closeSession(ctx context.Context) {
	if e.has("onSessionClose") {
		_ = e.call(ctx, "onSessionClose", []byte("{}"), nil) // Volcano logs it
	}
}

type verdict struct {
	code    int
	message string
}

func (e *extender) predicate(ctx context.Context, body []byte) verdict {
	var reply struct {
		Status string `json:"status"`
		Code   int    `json:"code"`
	}
	if err := e.call(ctx, "predicate", body, &reply); err != nil {
		if e.ignorable {
			return verdict{}
		}
		return verdict{codeError, err.Error()}
	}
	if reply.Status == "" {
		return verdict{}
	}
	if reply.Code == codeOK {
		reply.Code = codeError
	}
	return verdict{reply.Code, reply.Status}
}

func (e *extender) prioritize(ctx context.Context, body []byte) (map[string]float64, error) {
	var reply struct {
		NodeScore    map[string]float64 `json:"nodeScore"`
		ErrorMessage string             `json:"errorMessage"`
	}
	if err := e.call(ctx, "prioritize", body, &reply); err != nil {
		if e.ignorable {
			return nil, nil
		}
		return nil, err
	}
	if reply.ErrorMessage != "" {
		return nil, errors.New(reply.ErrorMessage)
	}
	if reply.NodeScore == nil {
		e.stats.countError("prioritize")
		return nil, errors.New("prioritize: the reply has no nodeScore")
	}
	return reply.NodeScore, nil
}

// preemptable or reclaimable: the victims among them, and a vote.
func (e *extender) victims(ctx context.Context, action string, evictor *task, evictees []*task) ([]*task, int) {
	request := struct {
		Evictor  *taskInfo   `json:"evictor"`
		Evictees []*taskInfo `json:"evictees"`
	}{Evictor: evictor.info()}
	byUID := map[string]*task{}
	for _, t := range evictees {
		request.Evictees = append(request.Evictees, t.info())
		byUID[t.pod.metadata.UID] = t
	}
	var reply struct {
		Status  int         `json:"status"`
		Victims []*taskInfo `json:"victims"`
	}
	if err := e.call(ctx, action, mustMarshal(request), &reply); err != nil {
		if e.ignorable {
			return nil, permit
		}
		return nil, reject
	}
	// Volcano evicts what it decoded: a task that lacks anything of what was sent would be a pod without a name.
	var chosen []*task
	for _, v := range reply.Victims {
		t := byUID[v.UID]
		if t == nil || v.Name != t.pod.metadata.Name || v.NodeName != t.node || len(v.Pod) == 0 {
			e.stats.countError(action)
			continue
		}
		chosen = append(chosen, t)
	}
	return chosen, reply.Status
}

func (e *extender) enqueueable(ctx context.Context, j *job) int {
	var reply struct {
		Status int `json:"status"`
	}
	if err := e.call(ctx, "jobEnqueueable", jobBody(j.info(false, false)), &reply); err != nil {
		if e.ignorable {
			return permit
		}
		return reject
	}
	return reply.Status
}

func (e *extender) enqueued(ctx context.Context, j *job) {
	_ = e.call(ctx, "jobEnqueued", jobBody(j.info(false, false)), &struct{}{}) // a notification
}

func (e *extender) overused(ctx context.Context, queue string) bool {
	var reply struct {
		Overused bool `json:"overused"`
	}
	body := mustMarshal(struct {
		Queue *queueInfo `json:"queue"`
	}{queueOf(queue)})
	if err := e.call(ctx, "queueOverused", body, &reply); err != nil {
		return !e.ignorable
	}
	return reply.Overused
}

// An error counts the other way round than one would think.
func (e *extender) jobReady(ctx context.Context, j *job, hard bool) bool {
	var reply struct {
		Status bool `json:"status"`
	}
	if err := e.call(ctx, "jobReady", jobBody(j.info(true, hard)), &reply); err != nil {
		return !e.ignorable
	}
	return reply.Status
}

// allocate or deallocate.
func (e *extender) event(ctx context.Context, action string, t *task) error {
	if !e.has(action) || !e.interested(t) {
		return nil
	}
	var reply struct {
		ErrorMessage string `json:"errorMessage"`
	}
	err := e.call(ctx, action, mustMarshal(struct {
		Task *taskInfo `json:"task"`
	}{t.info()}), &reply)
	if err != nil && e.ignorable {
		err = nil
	}
	if reply.ErrorMessage != "" {
		err = errors.New(reply.ErrorMessage)
	}
	return err
}

func jobBody(info *jobInfo) []byte {
	return mustMarshal(struct {
		Job *jobInfo `json:"job"`
	}{info})
}
