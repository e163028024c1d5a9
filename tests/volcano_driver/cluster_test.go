package main

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// An API server with one node and one pod, whose first binding is refused.
type fakeAPI struct {
	refused, bound atomic.Bool
	token          atomic.Value
}

func (a *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.token.Store(r.Header.Get("Authorization"))
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/api/v1/namespaces/default/pods/one/binding":
		if !a.refused.Swap(true) {
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"kind":"Status","message":"admission webhook denied the request: no chips"}`)
			return
		}
		a.bound.Store(true)
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"kind":"Status","status":"Success"}`)
	case r.URL.Path == "/api/v1/nodes":
		_, _ = io.WriteString(w, `{"items":[{"metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"4","pods":"9","nvidia.com/gpu":"8"},
			"conditions":[{"type":"Ready","status":"True"}]}}]}`)
	case r.URL.Path == "/api/v1/pods":
		spec := `"schedulerName":"volcano","containers":[{"resources":{"limits":{"nvidia.com/gpu":"8"}}}]`
		if a.bound.Load() {
			spec += `,"nodeName":"n1"`
		}
		_, _ = io.WriteString(w, `{"items":[{"metadata":{"name":"one","namespace":"default","uid":"u1"},"spec":{`+spec+`},
			"status":{"phase":"Pending"}}]}`)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// No deallocate tells the extender of the failure; the pod is tried again in a later session.
func TestBindingThatFailsIsTriedAgain(t *testing.T) {
	api, f := &fakeAPI{}, newFake(t)
	server := httptest.NewTLSServer(api)
	t.Cleanup(server.Close)
	ca := filepath.Join(t.TempDir(), "ca.crt")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := newAPICluster(server.URL, ca, "secret")
	if err != nil {
		t.Fatal(err)
	}
	d := driverOf(t, f, nil, "--until-idle", "--period", "1ms")
	d.cluster = c
	var out strings.Builder
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	d.run(ctx, json.NewEncoder(&out))
	failed, succeeded := "", ""
	for line := range strings.Lines(out.String()) {
		var told sessionLine
		if err := json.Unmarshal([]byte(line), &told); err != nil {
			t.Fatal(err)
		}
		if told.BindFailed["default/one"] != "" {
			failed = told.BindFailed["default/one"]
		}
		if told.Bound["default/one"] != "" {
			succeeded = told.Bound["default/one"]
		}
	}
	if !strings.Contains(failed, "no chips") || succeeded != "n1" || api.token.Load() != "Bearer secret" {
		t.Errorf("failed %q, bound to %q, token %q", failed, succeeded, api.token.Load())
	}
	same(t, f.lines("allocate", "deallocate"), []string{"allocate one 2 n1", "allocate one 2 n1"})
}
