package wire

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
	resources "k8s.io/kubelet/pkg/apis/podresources/v1"
)

const (
	resource = "nvidia.com/gpu"
	patience = 60 * time.Second
)

// The part of a kubelet that a device plugin meets, with the kubelet's own messages: registration, the list of pods, and one
// connection to the plugin that registered last.
type kubelet struct {
	api.UnimplementedRegistrationServer
	resources.UnimplementedPodResourcesListerServer
	t      *testing.T
	folder string

	mutex         sync.Mutex
	changed       *sync.Cond
	server        *grpc.Server
	registrations []*api.RegisterRequest
	plugin        api.DevicePluginClient
	options       *api.DevicePluginOptions
	close         func()
	devices       map[string]*api.Device
	updates       int
	listing       bool // what a List answers, and how often it was called
	lists         int
}

func newKubelet(t *testing.T, folder string) *kubelet {
	k := &kubelet{t: t, folder: folder}
	k.changed = sync.NewCond(&k.mutex)
	t.Cleanup(k.stop)
	return k
}

// As the kubelet: the sockets of plugins are removed first.
func (k *kubelet) start() {
	k.t.Helper()
	entries, err := os.ReadDir(k.folder)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.Type()&os.ModeSocket != 0 {
			os.Remove(filepath.Join(k.folder, entry.Name()))
		}
	}
	server := grpc.NewServer()
	api.RegisterRegistrationServer(server, k)
	resources.RegisterPodResourcesListerServer(server, k)
	for _, name := range []string{"kubelet.sock", "pods.sock"} {
		listener, err := net.Listen("unix", filepath.Join(k.folder, name))
		if err != nil {
			k.t.Fatal(err)
		}
		go server.Serve(listener)
	}
	k.mutex.Lock()
	k.server = server
	k.mutex.Unlock()
}

func (k *kubelet) stop() {
	k.mutex.Lock()
	server, drop := k.server, k.close
	k.server, k.close, k.plugin, k.devices = nil, nil, nil, nil
	k.mutex.Unlock()
	if drop != nil {
		drop()
	}
	if server != nil {
		server.Stop()
	}
}

func (k *kubelet) restart() {
	k.stop()
	k.start()
}

// Inside Register the kubelet asks for the options and opens the stream, then answers.
func (k *kubelet) Register(_ context.Context, request *api.RegisterRequest) (*api.Empty, error) {
	if request.Version != api.Version {
		return nil, status.Errorf(codes.InvalidArgument, "version %q", request.Version)
	}
	connection, err := grpc.NewClient("unix:"+filepath.Join(k.folder, request.Endpoint), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	plugin := api.NewDevicePluginClient(connection)
	limited, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	options, err := plugin.GetDevicePluginOptions(limited, &api.Empty{})
	if err != nil {
		connection.Close()
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	stream, err := plugin.ListAndWatch(life, &api.Empty{})
	if err != nil {
		end()
		connection.Close()
		return nil, err
	}
	k.mutex.Lock()
	former := k.close
	k.registrations = append(k.registrations, request)
	k.plugin, k.options, k.devices = plugin, options, nil
	k.close = func() { end(); connection.Close() }
	k.changed.Broadcast()
	k.mutex.Unlock()
	if former != nil {
		former()
	}
	go func() {
		for {
			list, err := stream.Recv()
			if err != nil {
				return
			}
			k.mutex.Lock()
			if k.plugin == plugin {
				k.devices = map[string]*api.Device{}
				for _, device := range list.Devices {
					k.devices[device.ID] = device
				}
				k.updates++
				k.changed.Broadcast()
			}
			k.mutex.Unlock()
		}
	}()
	return &api.Empty{}, nil
}

func (k *kubelet) List(context.Context, *resources.ListPodResourcesRequest) (*resources.ListPodResourcesResponse, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.lists++
	return &resources.ListPodResourcesResponse{}, nil
}

// Waits until the condition holds, which is called with the lock.
func (k *kubelet) until(what string, holds func() bool) {
	k.t.Helper()
	timer := time.AfterFunc(patience, func() { k.changed.Broadcast() })
	defer timer.Stop()
	end := time.Now().Add(patience)
	k.mutex.Lock()
	defer k.mutex.Unlock()
	for !holds() {
		if time.Now().After(end) {
			k.t.Fatalf("never: %s (registrations %d, devices %s)", what, len(k.registrations), k.health())
		}
		k.changed.Wait()
	}
}

// "0+ 1- …", with the lock.
func (k *kubelet) health() string {
	var out []string
	for id, device := range k.devices {
		sign := "-"
		if device.Health == api.Healthy {
			sign = "+"
		}
		out = append(out, id+sign)
	}
	sort.Strings(out)
	return strings.Join(out, " ")
}

func (k *kubelet) client() api.DevicePluginClient {
	k.until("a plugin that is registered and has devices", func() bool { return k.plugin != nil && len(k.devices) > 0 })
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.plugin
}

// What the kubelet does for a container, without the list of pods.
func (k *kubelet) give(plugin api.DevicePluginClient, available []string, size int) ([]string, *api.ContainerAllocateResponse, error) {
	limited, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	preferred, err := plugin.GetPreferredAllocation(limited, &api.PreferredAllocationRequest{ContainerRequests: []*api.ContainerPreferredAllocationRequest{
		{AvailableDeviceIDs: available, AllocationSize: int32(size)}}})
	if err != nil {
		return nil, nil, fmt.Errorf("preferred: %w", err)
	}
	ids := preferred.ContainerResponses[0].DeviceIDs
	allocated, err := plugin.Allocate(limited, &api.AllocateRequest{ContainerRequests: []*api.ContainerAllocateRequest{{DevicesIds: ids}}})
	if err != nil {
		return ids, nil, fmt.Errorf("allocate: %w", err)
	}
	if _, err := plugin.PreStartContainer(limited, &api.PreStartContainerRequest{DevicesIds: ids}); err != nil {
		return ids, nil, fmt.Errorf("start: %w", err)
	}
	return ids, allocated.ContainerResponses[0], nil
}
