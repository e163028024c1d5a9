package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// An API server with one NodeInventory and no pods.
type cluster struct {
	mutex   sync.Mutex
	changed *sync.Cond
	version int
	status  string // of the inventory; "": there is none
	down    bool
}

func newCluster(t *testing.T) (*cluster, string) {
	c := &cluster{version: 10}
	c.changed = sync.NewCond(&c.mutex)
	server := httptest.NewServer(c)
	t.Cleanup(func() {
		c.mutex.Lock()
		c.down = true
		c.changed.Broadcast()
		c.mutex.Unlock()
		server.Close()
	})
	config := filepath.Join(newFolder(t), "config")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: %q}}]
users: [{name: u, user: {token: t}}]
`, server.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return c, config
}

func (c *cluster) set(unhealthy string) {
	sick := map[string]bool{}
	for _, id := range strings.Fields(unhealthy) {
		sick[id] = true
	}
	var chips []map[string]any
	for i := 0; i < 4; i++ {
		id := fmt.Sprintf("GPU-%d", i)
		chip := map[string]any{"index": i, "id": id}
		if sick[id] {
			chip["health"] = "unhealthy"
		}
		chips = append(chips, chip)
	}
	status, _ := json.Marshal(map[string]any{"bootId": "b", "sequence": c.version, "machine": "m", "resources": []string{resource},
		"topology": map[string]any{"vendor": "nvidia", "model": "m", "chips": chips}})
	c.mutex.Lock()
	c.status = string(status)
	c.version++
	c.changed.Broadcast()
	c.mutex.Unlock()
}

func (c *cluster) remove() {
	c.mutex.Lock()
	c.status = ""
	c.version++
	c.changed.Broadcast()
	c.mutex.Unlock()
}

func (c *cluster) object() string {
	return fmt.Sprintf(`{"apiVersion":"chipweave.dev/v1alpha1","kind":"NodeInventory","metadata":{"name":"n1","uid":"u","resourceVersion":"%d"},"status":%s}`, c.version, c.status)
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	inventories := strings.HasSuffix(r.URL.Path, "nodeinventories")
	if query.Get("sendInitialEvents") != "" {
		http.Error(w, `{"kind":"Status","message":"no streaming lists"}`, http.StatusBadRequest)
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if query.Get("watch") == "" {
		items := ""
		if inventories && c.status != "" {
			items = c.object()
		}
		fmt.Fprintf(w, `{"metadata":{"resourceVersion":"%d"},"items":[%s]}`, c.version, items)
		return
	}
	seen, was := c.version, c.status != ""
	w.WriteHeader(http.StatusOK)
	for r.Context().Err() == nil && !c.down {
		if inventories && seen != c.version {
			seen = c.version
			kind, object := "MODIFIED", c.object()
			if c.status == "" {
				kind, object = "DELETED", strings.Replace(object, `"status":`, `"status":{}`, 1)
			} else if !was {
				kind = "ADDED"
			}
			was = c.status != ""
			fmt.Fprintf(w, "{\"type\":%q,\"object\":%s}\n", kind, object)
		}
		w.(http.Flusher).Flush()
		c.changed.Wait()
	}
}

func TestTheListFollowsTheHealthOfTheChips(t *testing.T) {
	c, config := newCluster(t)
	folder := newFolder(t)
	k := newKubelet(t, folder)
	k.start()
	run(t, folder, "--kubeconfig="+config)
	c.set("")
	k.until("all healthy", func() bool { return k.health() == "GPU-0+ GPU-1+ GPU-2+ GPU-3+" })
	eventually(t, "an open gate", func() bool { return gate(folder) == "open" })
	c.set("GPU-2")
	k.until("one unhealthy", func() bool { return k.health() == "GPU-0+ GPU-1+ GPU-2- GPU-3+" })
	for i := 0; i < 30; i++ {
		c.set([]string{"GPU-0", "GPU-1 GPU-3", "GPU-2"}[i%3])
	}
	c.set("GPU-0 GPU-3")
	k.until("the newest state", func() bool { return k.health() == "GPU-0- GPU-1+ GPU-2+ GPU-3-" })
	k.restart()
	k.until("the same after a restart of the kubelet", func() bool { return k.health() == "GPU-0- GPU-1+ GPU-2+ GPU-3-" })
	c.remove()
	k.until("all unhealthy without an inventory", func() bool { return k.health() == "GPU-0- GPU-1- GPU-2- GPU-3-" })
	c.set("")
	k.until("all healthy again", func() bool { return k.health() == "GPU-0+ GPU-1+ GPU-2+ GPU-3+" })
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if len(k.registrations) != 2 {
		t.Errorf("%d registrations for two starts of the kubelet", len(k.registrations))
	}
}
