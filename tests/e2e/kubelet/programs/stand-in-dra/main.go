// stand-in-dra — plays a vendor's DRA driver, with Kubernetes' own helper for them: eight devices, tainted so that only
// chipweave gives them away, and for each claim a CDI device for every device, with its environment and its node.
//
// What is prepared is in the CDI folder alone, so that it survives: a file for each claim. A device that another claim has is
// refused, as the helper demands of drivers.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/dynamic-resource-allocation/kubeletplugin"
	"k8s.io/dynamic-resource-allocation/resourceslice"
)

const kind = "stand-in.chipweave.dev/gpu"

var (
	name       = flag.String("driver", "gpu.nvidia.com", "name of the driver")
	node       = flag.String("node", "", "name of the node")
	kubeconfig = flag.String("kubeconfig", "", "of a user that may write ResourceSlices and read claims")
	cdi        = flag.String("cdi", "/run/cdi", "folder of CDI files")
	taint      = flag.Bool("taint", true, "taints the devices")
)

type cdiNode struct {
	Path string `json:"path"`
}

type cdiEdits struct {
	Env         []string  `json:"env"`
	DeviceNodes []cdiNode `json:"deviceNodes"`
}

type cdiDevice struct {
	Name  string   `json:"name"`
	Edits cdiEdits `json:"containerEdits"`
}

type cdiSpec struct {
	Version string      `json:"cdiVersion"`
	Kind    string      `json:"kind"`
	Devices []cdiDevice `json:"devices"`
}

type driver struct{ stop context.CancelFunc }

func file(uid types.UID) string { return filepath.Join(*cdi, "stand-in-"+string(uid)+".json") }

// owner is the claim that has this device, if another has it.
func owner(device string, uid types.UID) string {
	files, _ := filepath.Glob(filepath.Join(*cdi, "stand-in-*.json"))
	for _, path := range files {
		data, err := os.ReadFile(path)
		if path != file(uid) && err == nil && strings.Contains(string(data), "/dev/"+chip(device)+`"`) {
			return filepath.Base(path)
		}
	}
	return ""
}

func chip(device string) string { return "nvidia" + strings.TrimPrefix(device, "gpu-") }

func (driver) prepare(claim *resourceapi.ResourceClaim) kubeletplugin.PrepareResult {
	spec := cdiSpec{Version: "0.6.0", Kind: kind}
	var result kubeletplugin.PrepareResult
	for _, one := range claim.Status.Allocation.Devices.Results {
		if one.Driver != *name {
			continue
		}
		if other := owner(one.Device, claim.UID); other != "" {
			return kubeletplugin.PrepareResult{Err: fmt.Errorf("device %s is prepared for %s", one.Device, other)}
		}
		number := strings.TrimPrefix(one.Device, "gpu-")
		device := string(claim.UID) + "-" + one.Device
		spec.Devices = append(spec.Devices, cdiDevice{device, cdiEdits{
			// One variable for each device: those of one name would overwrite each other.
			Env:         []string{"CHIPWEAVE_DEVICE_" + number + "=GPU-" + number},
			DeviceNodes: []cdiNode{{"/dev/" + chip(one.Device)}}}})
		result.Devices = append(result.Devices, kubeletplugin.Device{Requests: []string{one.Request}, PoolName: one.Pool,
			DeviceName: one.Device, CDIDeviceIDs: []string{kind + "=" + device}})
	}
	data, _ := json.Marshal(spec)
	// Hidden: containerd reads every .json there.
	hidden := file(claim.UID) + ".new"
	err := os.WriteFile(hidden, data, 0o644)
	if err == nil {
		err = os.Rename(hidden, file(claim.UID))
	}
	if err != nil {
		return kubeletplugin.PrepareResult{Err: err}
	}
	return result
}

type beganKey struct{}

// What the helper does counts, too: it reads the claims from the API server.
func timed(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	return handler(context.WithValue(ctx, beganKey{}, time.Now()), request)
}

func (d driver) PrepareResourceClaims(ctx context.Context, claims []*resourceapi.ResourceClaim) (map[types.UID]kubeletplugin.PrepareResult, error) {
	began, all := ctx.Value(beganKey{}).(time.Time), map[types.UID]kubeletplugin.PrepareResult{}
	for _, claim := range claims {
		all[claim.UID] = d.prepare(claim)
		log.Printf("prepared %s/%s: %d devices, %v, %v", claim.Namespace, claim.Name, len(all[claim.UID].Devices),
			all[claim.UID].Err, time.Since(began))
	}
	return all, nil
}

func (driver) UnprepareResourceClaims(_ context.Context, claims []kubeletplugin.NamespacedObject) (map[types.UID]error, error) {
	all := map[types.UID]error{}
	for _, claim := range claims {
		err := os.Remove(file(claim.UID))
		if os.IsNotExist(err) {
			err = nil
		}
		all[claim.UID] = err
		log.Printf("unprepared %s/%s: %v", claim.Namespace, claim.Name, err)
	}
	return all, nil
}

func (d driver) HandleError(_ context.Context, err error, text string) {
	log.Printf("%s: %v", text, err)
}

func pool() resourceslice.DriverResources {
	var devices []resourceapi.Device
	for i := 0; i < 8; i++ {
		uuid, number := fmt.Sprintf("GPU-%d", i), int64(i)
		device := resourceapi.Device{Name: fmt.Sprintf("gpu-%d", i), Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{
			"uuid": {StringValue: &uuid}, "minor": {IntValue: &number}}}
		if *taint {
			device.Taints = []resourceapi.DeviceTaint{{Key: "chipweave.dev/managed", Value: "true", Effect: resourceapi.DeviceTaintEffectNoSchedule}}
		}
		devices = append(devices, device)
	}
	return resourceslice.DriverResources{Pools: map[string]resourceslice.Pool{*node: {Slices: []resourceslice.Slice{{Devices: devices}}}}}
}

func main() {
	flag.Parse()
	log.SetFlags(log.Lmicroseconds)
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	data := filepath.Join(kubeletplugin.KubeletPluginsDir, *name)
	if err := os.MkdirAll(data, 0o750); err != nil {
		log.Fatal(err)
	}
	helper, err := kubeletplugin.Start(ctx, driver{stop}, kubeletplugin.DriverName(*name), kubeletplugin.NodeName(*node),
		kubeletplugin.KubeClient(client), kubeletplugin.PluginDataDirectoryPath(data), kubeletplugin.GRPCInterceptor(timed))
	if err != nil {
		log.Fatal(err)
	}
	if err := helper.PublishResources(ctx, pool()); err != nil {
		log.Fatal(err)
	}
	log.Printf("published")
	<-ctx.Done()
	helper.Stop()
}
