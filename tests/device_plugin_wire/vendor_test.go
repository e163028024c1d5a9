package wire

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// A vendor's plugin, which takes the folder of chipweave's for the kubelet's.
type vendor struct {
	api.UnimplementedDevicePluginServer
	t      *testing.T
	folder string

	mutex   sync.Mutex
	changed *sync.Cond
	server  *grpc.Server
	sick    map[string]bool
	stopped bool
}

func newVendor(t *testing.T, folder string) *vendor {
	v := &vendor{t: t, folder: folder, sick: map[string]bool{}}
	v.changed = sync.NewCond(&v.mutex)
	t.Cleanup(v.stop)
	return v
}

func (v *vendor) start() {
	v.t.Helper()
	path := filepath.Join(v.folder, "vendor.sock")
	eventually(v.t, "the socket that looks like the kubelet's", func() bool {
		_, err := os.Stat(filepath.Join(v.folder, "kubelet.sock"))
		return err == nil
	})
	os.Remove(path)
	listener, err := net.Listen("unix", path)
	if err != nil {
		v.t.Fatal(err)
	}
	v.mutex.Lock()
	v.stopped = false
	v.server = grpc.NewServer()
	api.RegisterDevicePluginServer(v.server, v)
	go v.server.Serve(listener)
	v.mutex.Unlock()
	connection, err := grpc.NewClient("unix:"+filepath.Join(v.folder, "kubelet.sock"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		v.t.Fatal(err)
	}
	defer connection.Close()
	limited, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := api.NewRegistrationClient(connection).Register(limited, &api.RegisterRequest{Version: api.Version, Endpoint: "vendor.sock",
		ResourceName: resource, Options: &api.DevicePluginOptions{}}, grpc.WaitForReady(true)); err != nil {
		v.t.Fatal(err)
	}
}

func (v *vendor) stop() {
	v.mutex.Lock()
	server := v.server
	v.server, v.stopped = nil, true
	v.changed.Broadcast()
	v.mutex.Unlock()
	if server != nil {
		server.Stop()
	}
}

func (v *vendor) setSick(id string, yes bool) {
	v.mutex.Lock()
	v.sick[id] = yes
	v.changed.Broadcast()
	v.mutex.Unlock()
}

func (v *vendor) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{}, nil
}

func (v *vendor) ListAndWatch(_ *api.Empty, stream api.DevicePlugin_ListAndWatchServer) error {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	for !v.stopped && stream.Context().Err() == nil {
		list := &api.ListAndWatchResponse{}
		for i := 0; i < 8; i++ {
			device := &api.Device{ID: string(rune('0' + i)), Health: api.Healthy, Topology: &api.TopologyInfo{Nodes: []*api.NUMANode{{ID: int64(i / 4)}}}}
			if v.sick[device.ID] {
				device.Health = api.Unhealthy
			}
			list.Devices = append(list.Devices, device)
		}
		if err := stream.Send(list); err != nil {
			return err
		}
		v.changed.Wait()
	}
	return nil
}

func (v *vendor) Allocate(_ context.Context, request *api.AllocateRequest) (*api.AllocateResponse, error) {
	answer := &api.AllocateResponse{}
	for _, one := range request.ContainerRequests {
		answer.ContainerResponses = append(answer.ContainerResponses, &api.ContainerAllocateResponse{
			Envs:        map[string]string{"NVIDIA_VISIBLE_DEVICES": strings.Join(one.DevicesIds, ",")},
			Mounts:      []*api.Mount{{ContainerPath: "/c", HostPath: "/h", ReadOnly: true}},
			Devices:     []*api.DeviceSpec{{ContainerPath: "/dev/a", HostPath: "/dev/b", Permissions: "mrw"}},
			Annotations: map[string]string{"a": "b"},
			CdiDevices:  []*api.CDIDevice{{Name: "vendor.com/gpu=0"}},
		})
	}
	return answer, nil
}

func beginVendor(t *testing.T) (*kubelet, *vendor, string) {
	folder := newFolder(t)
	k := newKubelet(t, folder)
	k.start()
	run(t, folder, append(machine, "--vendor-folder="+filepath.Join(folder, "vendor"))...)
	v := newVendor(t, filepath.Join(folder, "vendor"))
	v.start()
	return k, v, folder
}

func TestAVendorsPluginPassesThrough(t *testing.T) {
	k, _, _ := beginVendor(t)
	k.until("8 healthy devices", func() bool { return k.health() == healthy(8) })
	k.mutex.Lock()
	for id, device := range k.devices {
		if device.Topology != nil {
			t.Errorf("device %s has NUMA nodes: %v", id, device.Topology)
		}
	}
	k.mutex.Unlock()
	_, answer, err := k.give(k.client(), []string{"0", "1", "2", "3", "4"}, 4)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Envs["NVIDIA_VISIBLE_DEVICES"] != "0,1,2,3" || len(answer.Mounts) != 1 || answer.Mounts[0].HostPath != "/h" || !answer.Mounts[0].ReadOnly ||
		len(answer.Devices) != 1 || answer.Devices[0].Permissions != "mrw" || answer.Annotations["a"] != "b" || answer.CdiDevices[0].Name != "vendor.com/gpu=0" {
		t.Errorf("%v", answer)
	}
}

func TestAVendorsHealthPassesThrough(t *testing.T) {
	k, v, _ := beginVendor(t)
	k.until("8 healthy devices", func() bool { return k.health() == healthy(8) })
	for i := 0; i < 20; i++ {
		v.setSick("5", i%2 == 0)
		v.setSick("0", i%2 == 1)
	}
	k.until("only 0 is sick", func() bool { return k.health() == strings.Replace(healthy(8), "0+", "0-", 1) })
	if _, _, err := k.give(k.client(), []string{"0", "1", "2", "3", "4", "5", "6", "7"}, 8); err == nil {
		t.Error("a sick device was given away")
	}
}

func TestAVendorsPluginComesAndGoes(t *testing.T) {
	k, v, folder := beginVendor(t)
	for i := 0; i < 5; i++ {
		k.until("8 healthy devices", func() bool { return k.health() == healthy(8) })
		eventually(t, "an open gate", func() bool { return gate(folder) == "open" })
		v.stop()
		k.until("8 sick devices", func() bool { return k.health() == strings.ReplaceAll(healthy(8), "+", "-") })
		eventually(t, "a closed gate", func() bool { return gate(folder) == "closed" })
		if i%2 == 1 {
			k.restart()
			k.until("8 sick devices after a restart of the kubelet", func() bool { return k.health() == strings.ReplaceAll(healthy(8), "+", "-") })
			time.Sleep(100 * time.Millisecond)
			if gate(folder) != "closed" {
				t.Error("the gate is open without the vendor's plugin")
			}
		}
		v.start()
	}
	k.until("8 healthy devices", func() bool { return k.health() == healthy(8) })
	works(t, k)
}

// A plugin of a vendor registers again when the socket is made again, as after a restart of the kubelet.
func TestOurOwnRestartLooksLikeTheKubelets(t *testing.T) {
	folder := newFolder(t)
	k := newKubelet(t, folder)
	k.start()
	private := filepath.Join(folder, "vendor")
	p := run(t, folder, append(machine, "--vendor-folder="+private)...)
	v := newVendor(t, private)
	v.start()
	k.until("8 healthy devices", func() bool { return k.health() == healthy(8) })
	p.command.Process.Kill()
	p.ended()
	before, _ := os.Stat(filepath.Join(private, "kubelet.sock"))
	run(t, folder, append(machine, "--vendor-folder="+private)...)
	eventually(t, "another socket", func() bool {
		now, err := os.Stat(filepath.Join(private, "kubelet.sock"))
		return err == nil && (!os.SameFile(before, now) || !now.ModTime().Equal(before.ModTime()))
	})
	if _, err := os.Stat(filepath.Join(private, "vendor.sock")); err == nil {
		t.Error("the vendor's socket is left, as no kubelet leaves it")
	}
	v.stop()
	v.start()
	k.until("8 healthy devices", func() bool { return len(k.registrations) == 2 && k.health() == healthy(8) })
}
