// Package wire drives chipweave-device-plugin over its sockets with the kubelet's own messages (module k8s.io/kubelet).
package wire

import (
	"bytes"
	"context"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// The best four of hgx-v100-8 are one of its two quads.
var machine = []string{"--machine=hgx-v100-8"}

func begin(t *testing.T, arguments ...string) (*kubelet, *process, string) {
	folder := newFolder(t)
	k := newKubelet(t, folder)
	k.start()
	return k, run(t, folder, arguments...), folder
}

func healthy(n int) string {
	var out []string
	for i := 0; i < n; i++ {
		out = append(out, string(rune('0'+i))+"+")
	}
	return strings.Join(out, " ")
}

func works(t *testing.T, k *kubelet) {
	t.Helper()
	var all []string
	plugin := k.client()
	k.mutex.Lock()
	for id := range k.devices {
		all = append(all, id)
	}
	k.mutex.Unlock()
	ids, answer, err := k.give(plugin, all, 4)
	if err != nil {
		t.Fatal(err)
	}
	if got := answer.Envs["NVIDIA_VISIBLE_DEVICES"]; got != "0,1,2,3" || len(ids) != 4 {
		t.Fatalf("ids %v, environment %q", ids, got)
	}
}

func TestRegistersAsTheKubeletExpects(t *testing.T) {
	k, _, folder := begin(t, machine...)
	k.until("8 healthy devices", func() bool { return k.health() == healthy(8) })
	k.mutex.Lock()
	request, options := k.registrations[0], k.options
	for id, device := range k.devices {
		if device.Topology != nil {
			t.Errorf("device %s has NUMA nodes", id)
		}
	}
	k.mutex.Unlock()
	if request.ResourceName != resource || request.Endpoint != "chipweave-nvidia.com-gpu.sock" || !request.Options.PreStartRequired ||
		!request.Options.GetPreferredAllocationAvailable || !options.PreStartRequired || !options.GetPreferredAllocationAvailable {
		t.Errorf("%v, %v", request, options)
	}
	eventually(t, "an open gate", func() bool { return gate(folder) == "open" })
	works(t, k)
}

func TestAStormOfRestartsOfTheKubelet(t *testing.T) {
	k, _, folder := begin(t, machine...)
	random := rand.New(rand.NewSource(7))
	const restarts = 40
	for i := 0; i < restarts; i++ {
		time.Sleep(time.Duration(random.Intn(40)) * time.Millisecond)
		k.stop()
		if i%3 == 0 {
			time.Sleep(time.Duration(random.Intn(60)) * time.Millisecond)
		}
		k.start()
	}
	k.until("devices after the last restart", func() bool { return k.health() == healthy(8) })
	eventually(t, "an open gate", func() bool { return gate(folder) == "open" })
	works(t, k)
	k.mutex.Lock()
	before := len(k.registrations)
	k.mutex.Unlock()
	time.Sleep(2 * time.Second)
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if len(k.registrations) != before {
		t.Errorf("%d registrations in peace", len(k.registrations)-before)
	}
	if before > restarts+1 {
		t.Errorf("%d registrations for %d starts of the kubelet", before, restarts+1)
	}
}

func TestTheGateIsClosedWhileTheKubeletIsAway(t *testing.T) {
	k, _, folder := begin(t, machine...)
	eventually(t, "an open gate", func() bool { return gate(folder) == "open" })
	k.stop()
	eventually(t, "a closed gate", func() bool { return gate(folder) == "closed" })
	k.start()
	eventually(t, "an open gate again", func() bool { return gate(folder) == "open" })
}

// Ends the connection to the plugin, as a kubelet that lives.
func (k *kubelet) drop() {
	k.client()
	k.mutex.Lock()
	end := k.close
	k.plugin, k.devices, k.close = nil, nil, nil
	k.mutex.Unlock()
	end()
}

func TestRegistersAgainAfterALostConnection(t *testing.T) {
	k, _, _ := begin(t, machine...)
	k.drop()
	k.until("a second registration", func() bool { return len(k.registrations) == 2 && k.health() == healthy(8) })
	works(t, k)
}

// While the kubelet is connected a second registration would do harm (kubernetes#121994).
func TestASocketThatIsRemovedIsMadeAnewWhenTheKubeletNeedsIt(t *testing.T) {
	k, _, folder := begin(t, machine...)
	k.client()
	if err := os.Remove(filepath.Join(folder, "chipweave-nvidia.com-gpu.sock")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond)
	k.mutex.Lock()
	if len(k.registrations) != 1 {
		t.Errorf("%d registrations", len(k.registrations))
	}
	k.mutex.Unlock()
	works(t, k)
	k.drop()
	k.until("a second registration", func() bool { return len(k.registrations) == 2 && k.health() == healthy(8) })
	works(t, k)
}

func TestAKubeletThatRefusesIsAskedAgain(t *testing.T) {
	folder := newFolder(t)
	// A file in the place of the socket, then the kubelet.
	if err := os.WriteFile(filepath.Join(folder, "kubelet.sock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := run(t, folder, machine...)
	time.Sleep(300 * time.Millisecond)
	os.Remove(filepath.Join(folder, "kubelet.sock"))
	k := newKubelet(t, folder)
	k.start()
	k.until("8 healthy devices", func() bool { return k.health() == healthy(8) })
	p.signal(syscall.SIGTERM)
	eventually(t, "a closed gate before the end", func() bool { return gate(folder) == "closed" })
	if code := p.ended(); code != 0 {
		t.Errorf("exit status %d", code)
	}
}

// Calls of all kinds at once, while the kubelet restarts: each is answered.
func TestCallsRaceWithRestarts(t *testing.T) {
	k, _, _ := begin(t, machine...)
	k.client()
	var calls, hung atomic.Int64
	stop := make(chan struct{})
	var workers sync.WaitGroup
	for i := 0; i < 8; i++ {
		workers.Add(1)
		go func(random *rand.Rand) {
			defer workers.Done()
			for {
				select {
				case <-stop:
					return
				default:
				}
				k.mutex.Lock()
				plugin := k.plugin
				k.mutex.Unlock()
				if plugin == nil {
					time.Sleep(time.Millisecond)
					continue
				}
				limited, cancel := context.WithTimeout(context.Background(), 20*time.Second)
				var err error
				switch random.Intn(3) {
				case 0:
					_, err = plugin.GetPreferredAllocation(limited, &api.PreferredAllocationRequest{
						ContainerRequests: []*api.ContainerPreferredAllocationRequest{{AvailableDeviceIDs: []string{"0", "1", "2", "nonsense"}[:2+random.Intn(3)],
							MustIncludeDeviceIDs: []string{"1"}, AllocationSize: int32(random.Intn(4) - 1)}}})
				case 1:
					_, err = plugin.Allocate(limited, &api.AllocateRequest{ContainerRequests: []*api.ContainerAllocateRequest{{DevicesIds: []string{"2"}}, {DevicesIds: []string{"9"}}}[:1+random.Intn(2)]})
				default:
					_, err = plugin.PreStartContainer(limited, &api.PreStartContainerRequest{DevicesIds: []string{"3"}})
				}
				if limited.Err() != nil && err != nil {
					hung.Add(1)
				}
				calls.Add(1)
				cancel()
			}
		}(rand.New(rand.NewSource(int64(i))))
	}
	for i := 0; i < 10; i++ {
		time.Sleep(50 * time.Millisecond)
		k.restart()
		k.client()
	}
	close(stop)
	workers.Wait()
	if hung.Load() != 0 || calls.Load() < 100 {
		t.Errorf("%d of %d calls were not answered", hung.Load(), calls.Load())
	}
	works(t, k)
}

func TestWithoutRoomForTheGatesFileItDoesNotStart(t *testing.T) {
	folder := newFolder(t)
	p := run(t, folder, append(machine, "--gate-file=/dev/full")...)
	if code := p.ended(); code != 3 || !strings.Contains(p.said(), "No space left on device") {
		t.Errorf("exit status %d, %s", code, p.said())
	}
}

// A file system without a free byte.
func TestAFullDisk(t *testing.T) {
	folder := newFolder(t)
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a small file system: %s", out)
	}
	t.Cleanup(func() { exec.Command("umount", "-l", folder).Run() })
	k := newKubelet(t, folder)
	k.start()
	run(t, folder, machine...)
	eventually(t, "an open gate", func() bool { return gate(folder) == "open" })
	fill := filepath.Join(folder, "fill")
	for size := 65536; size > 0; size /= 2 {
		file, _ := os.OpenFile(fill, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		for {
			if _, err := file.Write(bytes.Repeat([]byte{1}, size)); err != nil {
				break
			}
		}
		file.Close()
	}
	k.stop()
	eventually(t, "a closed gate without a free byte", func() bool { return gate(folder) == "closed" })
	k.start()
	k.until("devices without a free byte", func() bool { return k.health() == healthy(8) })
	eventually(t, "an open gate without a free byte", func() bool { return gate(folder) == "open" })
	works(t, k)
}

func TestASocketThatCannotBeMadeIsTriedAgain(t *testing.T) {
	k, p, folder := begin(t, machine...)
	eventually(t, "an open gate", func() bool { return gate(folder) == "open" })
	own := filepath.Join(folder, "chipweave-nvidia.com-gpu.sock")
	os.Remove(own)
	if err := os.MkdirAll(filepath.Join(own, "in-the-way"), 0o700); err != nil {
		t.Fatal(err)
	}
	k.drop()
	eventually(t, "a word about the socket", func() bool { return strings.Contains(p.said(), "cannot serve the kubelet") })
	eventually(t, "a closed gate", func() bool { return gate(folder) == "closed" })
	os.RemoveAll(own)
	k.until("a second registration", func() bool { return len(k.registrations) == 2 && k.health() == healthy(8) })
	eventually(t, "an open gate again", func() bool { return gate(folder) == "open" })
	works(t, k)
}
