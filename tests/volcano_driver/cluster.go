package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

const apiTimeout = 75 * time.Second // longer than the API server itself takes for any request

// What the sessions see: the API server's, or an invented one.
type cluster interface {
	backend
	// The objects of now, and the nodes of pods that are being bound or were bound since the pods were listed.
	look(ctx context.Context) (nodes []*node, pods []*pod, bound map[string]string, err error)
	outcomes() outcomes
	binding() int // pods that are being bound
	wait(limit time.Duration)
}

// What became of bindings and evictions since it was last asked.
type outcomes struct {
	Bound        map[string]string `json:"bound"`       // pod and node
	BindFailed   map[string]string `json:"bind_failed"` // pod and why; it is tried again in a later session
	EvictFailed  map[string]string `json:"evict_failed"`
	BindMeanMS   float64           `json:"bind_mean_ms"`
	bindDuration time.Duration
}

func noOutcomes() outcomes {
	return outcomes{Bound: map[string]string{}, BindFailed: map[string]string{}, EvictFailed: map[string]string{}}
}

// The cluster behind an API server, asked with the token of one user.
type apiCluster struct {
	server, token string
	client        *http.Client
	under         sync.WaitGroup

	lock   sync.Mutex
	assume map[string]assumed // pods that are not known to be bound yet, by uid
	result outcomes
}

type assumed struct {
	node string
	done bool // the API server has taken the binding
}

func newAPICluster(server, caFile, token string) (*apiCluster, error) {
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New(caFile + " holds no certificate")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	return &apiCluster{server: strings.TrimRight(server, "/"), token: token, assume: map[string]assumed{}, result: noOutcomes(),
		client: &http.Client{Transport: transport, Timeout: apiTimeout}}, nil
}

func (c *apiCluster) ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.server+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusCreated {
		var status struct{ Message string }
		if json.Unmarshal(text, &status) != nil || status.Message == "" {
			status.Message = string(text)
		}
		return nil, fmt.Errorf("%s: %s", response.Status, status.Message)
	}
	return text, nil
}

func (c *apiCluster) list(ctx context.Context, path string) ([]json.RawMessage, error) {
	text, err := c.ask(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", path, err)
	}
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("GET %s: %w", path, err)
	}
	return list.Items, nil
}

// A list is what the API server has at that moment, so a binding that was taken before shows in it.
func (c *apiCluster) look(ctx context.Context) ([]*node, []*pod, map[string]string, error) {
	c.lock.Lock()
	var shown []string
	for uid, a := range c.assume {
		if a.done {
			shown = append(shown, uid)
		}
	}
	c.lock.Unlock()
	rawNodes, err := c.list(ctx, "/api/v1/nodes")
	if err != nil {
		return nil, nil, nil, err
	}
	rawPods, err := c.list(ctx, "/api/v1/pods")
	if err != nil {
		return nil, nil, nil, err
	}
	nodes, pods, err := readAll(rawNodes, rawPods)
	if err != nil {
		return nil, nil, nil, err
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	bound := map[string]string{}
	for _, uid := range shown {
		delete(c.assume, uid)
	}
	for uid, a := range c.assume {
		bound[uid] = a.node
	}
	return nodes, pods, bound, nil
}

func readAll(rawNodes, rawPods []json.RawMessage) (nodes []*node, pods []*pod, err error) {
	for _, raw := range rawNodes {
		n, err := readNode(raw)
		if err != nil {
			return nil, nil, err
		}
		nodes = append(nodes, n)
	}
	for _, raw := range rawPods {
		p, err := readPod(raw)
		if err != nil {
			return nil, nil, err
		}
		pods = append(pods, p)
	}
	return nodes, pods, nil
}

// With the uid and every annotation of the pod as the session knew it, and none of its own.
func bindingOf(t *task) []byte {
	type object struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
	}
	m := t.pod.metadata
	return mustMarshal(struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Metadata   map[string]any `json:"metadata"`
		Target     object         `json:"target"`
	}{"v1", "Binding", map[string]any{"name": m.Name, "namespace": m.Namespace, "uid": m.UID, "annotations": m.Annotations},
		object{"Node", t.node}})
}

func (c *apiCluster) bind(t *task) {
	uid, node, key, body := t.pod.metadata.UID, t.node, t.key, bindingOf(t)
	path := fmt.Sprintf("/api/v1/namespaces/%s/pods/%s/binding", t.pod.metadata.Namespace, t.pod.metadata.Name)
	c.lock.Lock()
	c.assume[uid] = assumed{node: node}
	c.lock.Unlock()
	c.under.Add(1)
	go func() {
		defer c.under.Done()
		began := time.Now()
		_, err := c.ask(context.Background(), http.MethodPost, path, body)
		c.lock.Lock()
		defer c.lock.Unlock()
		c.result.bindDuration += time.Since(began)
		if err != nil {
			delete(c.assume, uid)
			c.result.BindFailed[key] = err.Error()
			return
		}
		c.assume[uid] = assumed{node, true}
		c.result.Bound[key] = node
	}()
}

func (c *apiCluster) evict(t *task) {
	path := fmt.Sprintf("/api/v1/namespaces/%s/pods/%s", t.pod.metadata.Namespace, t.pod.metadata.Name)
	body := mustMarshal(map[string]any{"apiVersion": "v1", "kind": "DeleteOptions",
		"preconditions": map[string]any{"uid": t.pod.metadata.UID}})
	key := t.key
	c.under.Add(1)
	go func() {
		defer c.under.Done()
		if _, err := c.ask(context.Background(), http.MethodDelete, path, body); err != nil {
			c.lock.Lock()
			defer c.lock.Unlock()
			c.result.EvictFailed[key] = err.Error()
		}
	}()
}

func (c *apiCluster) outcomes() outcomes {
	c.lock.Lock()
	defer c.lock.Unlock()
	found := c.result
	if tried := len(found.Bound) + len(found.BindFailed); tried > 0 {
		found.BindMeanMS = float64(found.bindDuration.Microseconds()) / 1000 / float64(tried)
	}
	c.result = noOutcomes()
	return found
}

func (c *apiCluster) binding() int {
	c.lock.Lock()
	defer c.lock.Unlock()
	under := 0
	for _, a := range c.assume {
		if !a.done {
			under++
		}
	}
	return under
}

// Waits for calls in flight, with a limit.
func (c *apiCluster) wait(limit time.Duration) {
	ended := make(chan struct{})
	go func() {
		c.under.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(limit):
	}
}

// --- an invented cluster: nothing is bound or evicted in it, so every session finds the same

type syntheticCluster struct {
	nodes []*node
	pods  []*pod
}

func (c *syntheticCluster) look(context.Context) ([]*node, []*pod, map[string]string, error) {
	return c.nodes, slices.Clone(c.pods), nil, nil
}

func (*syntheticCluster) bind(*task)         {}
func (*syntheticCluster) evict(*task)        {}
func (*syntheticCluster) outcomes() outcomes { return noOutcomes() }
func (*syntheticCluster) binding() int       { return 0 }
func (*syntheticCluster) wait(time.Duration) {}
