// stock-plugin — plays a vendor's device plugin that knows nothing of chipweave: eight devices, no preferred allocation (or a
// random one), the environment and the device nodes of whatever the kubelet picks.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

var (
	resource = flag.String("resource", "nvidia.com/gpu", "resource name")
	prefix   = flag.String("prefix", "GPU-", "the ids are this and a number from 0")
	count    = flag.Int("devices", 8, "number of devices")
	folder   = flag.String("folder", api.DevicePluginPath, "where the kubelet's socket is")
	prefer   = flag.Bool("random", false, "prefers random devices, instead of having no preference")
	delay    = flag.Duration("delay", 0, "what an Allocate takes")
)

type plugin struct {
	api.UnimplementedDevicePluginServer
}

func (plugin) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{GetPreferredAllocationAvailable: *prefer}, nil
}

func (plugin) ListAndWatch(_ *api.Empty, stream api.DevicePlugin_ListAndWatchServer) error {
	var devices []*api.Device
	for i := 0; i < *count; i++ {
		devices = append(devices, &api.Device{ID: fmt.Sprintf("%s%d", *prefix, i), Health: api.Healthy})
	}
	if err := stream.Send(&api.ListAndWatchResponse{Devices: devices}); err != nil {
		return err
	}
	<-stream.Context().Done()
	return nil
}

func (plugin) GetPreferredAllocation(_ context.Context, request *api.PreferredAllocationRequest) (*api.PreferredAllocationResponse, error) {
	answer := &api.PreferredAllocationResponse{}
	for _, one := range request.ContainerRequests {
		ids := one.AvailableDeviceIDs
		rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		answer.ContainerResponses = append(answer.ContainerResponses,
			&api.ContainerPreferredAllocationResponse{DeviceIDs: ids[:one.AllocationSize]})
	}
	return answer, nil
}

func (plugin) Allocate(_ context.Context, request *api.AllocateRequest) (*api.AllocateResponse, error) {
	time.Sleep(*delay)
	answer := &api.AllocateResponse{}
	for _, one := range request.ContainerRequests {
		response := &api.ContainerAllocateResponse{Envs: map[string]string{"NVIDIA_VISIBLE_DEVICES": strings.Join(one.DevicesIds, ",")}}
		for _, id := range one.DevicesIds {
			node := "nvidia" + strings.TrimPrefix(id, *prefix)
			response.Devices = append(response.Devices,
				&api.DeviceSpec{HostPath: "/dev/" + node, ContainerPath: "/dev/" + node, Permissions: "rw"})
		}
		answer.ContainerResponses = append(answer.ContainerResponses, response)
		log.Printf("allocated %s", strings.Join(one.DevicesIds, " "))
	}
	return answer, nil
}

func (plugin) PreStartContainer(context.Context, *api.PreStartContainerRequest) (*api.PreStartContainerResponse, error) {
	return &api.PreStartContainerResponse{}, nil
}

func register(name string) error {
	connection, err := grpc.NewClient("unix:"+filepath.Join(*folder, "kubelet.sock"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	limited, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, err = api.NewRegistrationClient(connection).Register(limited, &api.RegisterRequest{Version: api.Version, Endpoint: name,
		ResourceName: *resource, Options: &api.DevicePluginOptions{GetPreferredAllocationAvailable: *prefer}}, grpc.WaitForReady(true))
	return err
}

// Until the kubelet removes the socket, as it does when it starts.
func serve(name string) {
	path := filepath.Join(*folder, name)
	os.Remove(path)
	listener, err := net.Listen("unix", path)
	if err != nil {
		log.Printf("%v", err)
		time.Sleep(100 * time.Millisecond)
		return
	}
	server := grpc.NewServer()
	defer server.Stop()
	api.RegisterDevicePluginServer(server, plugin{})
	go server.Serve(listener)
	if err := register(name); err != nil {
		log.Printf("not registered: %v", err)
		return
	}
	log.Printf("registered %s", *resource)
	for {
		if _, err := os.Stat(path); err != nil {
			log.Printf("the socket is gone: %v", err)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func main() {
	flag.Parse()
	log.SetFlags(log.Lmicroseconds)
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	go func() { <-told; os.Exit(0) }()
	for {
		serve("stock-" + strings.NewReplacer("/", "-").Replace(*resource) + ".sock")
	}
}
