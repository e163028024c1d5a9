// pod-resources — what the kubelet's PodResources API says (List), as JSON: {"namespace/pod": {"container": {"devices": […],
// "claims": […]}}}. With --storm it asks again and again for that long, and says how often it got an answer.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	api "k8s.io/kubelet/pkg/apis/podresources/v1"
)

type device struct {
	Resource string `json:"resource"`
	ID       string `json:"id"`
}

type claimed struct {
	Claim  string   `json:"claim"`
	Driver string   `json:"driver"`
	Pool   string   `json:"pool"`
	Device string   `json:"device"`
	CDI    []string `json:"cdi"`
}

type container struct {
	Devices []device  `json:"devices"`
	Claims  []claimed `json:"claims"`
}

// The kubelet answers 100 calls a second, of all callers.
func rage(client api.PodResourcesListerClient, long time.Duration) int {
	limited, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	answers := 0
	for limited.Err() == nil {
		if _, err := client.List(limited, &api.ListPodResourcesRequest{}); err == nil {
			answers++
		}
		time.Sleep(15 * time.Millisecond)
	}
	return answers
}

func main() {
	socket := flag.String("socket", "/var/lib/kubelet/pod-resources/kubelet.sock", "of the kubelet")
	storm := flag.Duration("storm", 0, "ask for this long")
	flag.Parse()
	connection, err := grpc.NewClient("unix:"+*socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	client := api.NewPodResourcesListerClient(connection)
	if *storm > 0 {
		fmt.Println(rage(client, *storm))
		return
	}
	limited, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	list, err := client.List(limited, &api.ListPodResourcesRequest{}, grpc.WaitForReady(true))
	for status.Code(err) == codes.ResourceExhausted && limited.Err() == nil {
		time.Sleep(50 * time.Millisecond)
		list, err = client.List(limited, &api.ListPodResourcesRequest{}, grpc.WaitForReady(true))
	}
	if err != nil {
		log.Fatal(err)
	}
	all := map[string]map[string]container{}
	for _, pod := range list.PodResources {
		containers := map[string]container{}
		for _, one := range pod.Containers {
			seen := container{Devices: []device{}, Claims: []claimed{}}
			for _, devices := range one.Devices {
				for _, id := range devices.DeviceIds {
					seen.Devices = append(seen.Devices, device{devices.ResourceName, id})
				}
			}
			for _, dynamic := range one.DynamicResources {
				for _, resource := range dynamic.ClaimResources {
					next := claimed{Claim: dynamic.ClaimName, Driver: resource.DriverName, Pool: resource.PoolName, Device: resource.DeviceName}
					for _, cdi := range resource.CdiDevices {
						next.CDI = append(next.CDI, cdi.Name)
					}
					seen.Claims = append(seen.Claims, next)
				}
			}
			containers[one.Name] = seen
		}
		all[pod.Namespace+"/"+pod.Name] = containers
	}
	if err := json.NewEncoder(os.Stdout).Encode(all); err != nil {
		log.Fatal(err)
	}
}
