package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// What the driver reads of Kubernetes objects; the objects themselves go into bodies as the API server gave them.

type metadata struct {
	Name              string
	Namespace         string
	UID               string
	CreationTimestamp string
	DeletionTimestamp string
	Labels            map[string]string
	Annotations       map[string]string
	OwnerReferences   []struct {
		UID        string
		Controller bool
	}
}

type container struct {
	RestartPolicy string
	Resources     struct {
		Requests map[string]string
		Limits   map[string]string
	}
}

type podSpec struct {
	NodeName        string
	SchedulerName   string
	Priority        int
	Containers      []container
	InitContainers  []container
	SchedulingGates []json.RawMessage
}

// One version of a pod.
type pod struct {
	metadata  metadata
	spec      podSpec
	phase     string
	nominated string // status.nominatedNodeName
	raw       json.RawMessage
	parts     struct{ Metadata, Spec, Status json.RawMessage }
}

type node struct {
	name          string
	raw           json.RawMessage
	ready         bool
	unschedulable bool
	allocatable   *resource
	capacity      *resource
}

func readPod(raw json.RawMessage) (*pod, error) {
	p := &pod{raw: raw}
	var status struct{ Phase, NominatedNodeName string }
	if err := json.Unmarshal(raw, &p.parts); err != nil {
		return nil, fmt.Errorf("a pod cannot be read: %w", err)
	}
	if len(p.parts.Status) == 0 {
		p.parts.Status = json.RawMessage("{}")
	}
	if len(p.parts.Metadata) == 0 || len(p.parts.Spec) == 0 {
		return nil, errors.New("a pod lacks metadata or spec")
	}
	for part, to := range map[*json.RawMessage]any{
		&p.parts.Metadata: &p.metadata, &p.parts.Spec: &p.spec, &p.parts.Status: &status} {
		if err := json.Unmarshal(*part, to); err != nil {
			return nil, fmt.Errorf("pod %s/%s cannot be read: %w", p.metadata.Namespace, p.metadata.Name, err)
		}
	}
	p.phase, p.nominated = status.Phase, status.NominatedNodeName
	return p, nil
}

// Without kind and apiVersion, as they are in a list, and with a node in its spec if one is given.
func (p *pod) document(nodeName string) json.RawMessage {
	spec := p.parts.Spec
	if nodeName != "" && p.spec.NodeName == "" {
		name, _ := json.Marshal(nodeName)
		rest := bytes.TrimLeft(bytes.TrimSpace(spec)[1:], " \t\r\n")
		comma := ","
		if rest[0] == '}' {
			comma = ""
		}
		spec = fmt.Appendf(nil, `{"nodeName":%s%s%s`, name, comma, rest)
	}
	return fmt.Appendf(nil, `{"metadata":%s,"spec":%s,"status":%s}`, p.parts.Metadata, spec, p.parts.Status)
}

func (p *pod) ended() bool { return p.phase == "Succeeded" || p.phase == "Failed" }

// The sum of the requests of all containers, and the maximum at any time of the pod's life.
func (p *pod) requests() (running, most *resource, err error) {
	running = &resource{}
	running.setScalar("pods", 1)
	for _, c := range p.spec.Containers {
		if err = addRequests(running, c); err != nil {
			return nil, nil, err
		}
	}
	beside, most := &resource{}, &resource{}
	for _, c := range p.spec.InitContainers {
		if c.RestartPolicy == "Always" {
			if err = addRequests(beside, c); err != nil {
				return nil, nil, err
			}
			most.raiseTo(beside)
			continue
		}
		step := beside.clone()
		if err = addRequests(step, c); err != nil {
			return nil, nil, err
		}
		most.raiseTo(step)
	}
	running.add(beside)
	most.raiseTo(running)
	return running, most, nil
}

func addRequests(sum *resource, c container) error {
	amounts := map[string]string{}
	for name, text := range c.Resources.Limits {
		amounts[name] = text
	}
	for name, text := range c.Resources.Requests {
		amounts[name] = text
	}
	r, err := resourceOf(amounts)
	if err == nil {
		sum.add(r)
	}
	return err
}

// Whether a container asks for one of these resources.
func (p *pod) asksFor(names map[string]bool) bool {
	for _, containers := range [][]container{p.spec.Containers, p.spec.InitContainers} {
		for _, c := range containers {
			for _, amounts := range []map[string]string{c.Resources.Requests, c.Resources.Limits} {
				for name := range amounts {
					if names[name] {
						return true
					}
				}
			}
		}
	}
	return false
}

func (p *pod) note(key string) string {
	return cmp.Or(p.metadata.Annotations[key], p.metadata.Labels[key])
}

// The PodGroup of the pod: the annotated one, or that which Volcano makes for an owner or a lonely pod.
func (p *pod) group() string {
	if name := cmp.Or(p.metadata.Annotations["scheduling.k8s.io/group-name"],
		p.metadata.Annotations["scheduling.volcano.sh/group-name"]); name != "" {
		return name
	}
	for _, owner := range p.metadata.OwnerReferences {
		if owner.Controller {
			return "podgroup-" + owner.UID
		}
	}
	return "podgroup-" + p.metadata.UID
}

func readNode(raw json.RawMessage) (*node, error) {
	var object struct {
		Metadata struct{ Name string }
		Spec     struct{ Unschedulable bool }
		Status   struct {
			Allocatable, Capacity map[string]string
			Conditions            []struct{ Type, Status string }
		}
	}
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, fmt.Errorf("a node cannot be read: %w", err)
	}
	n := &node{name: object.Metadata.Name, raw: raw, unschedulable: object.Spec.Unschedulable}
	for _, condition := range object.Status.Conditions {
		n.ready = n.ready || condition.Type == "Ready" && condition.Status == "True"
	}
	var errAllocatable, errCapacity error
	n.allocatable, errAllocatable = resourceOf(object.Status.Allocatable)
	n.capacity, errCapacity = resourceOf(object.Status.Capacity)
	if err := errors.Join(errAllocatable, errCapacity); err != nil {
		return nil, fmt.Errorf("node %s: %w", n.name, err)
	}
	return n, nil
}

// Names in the order in which people count: pod-2 before pod-10.
func naturalLess(a, b string) bool {
	for a != "" && b != "" {
		left, right := leadingNumber(a), leadingNumber(b)
		if left == "" || right == "" {
			if a[0] != b[0] {
				return a[0] < b[0]
			}
			a, b = a[1:], b[1:]
			continue
		}
		x, y := strings.TrimLeft(left, "0"), strings.TrimLeft(right, "0")
		if len(x) != len(y) {
			return len(x) < len(y)
		}
		if x != y {
			return x < y
		}
		a, b = a[len(left):], b[len(right):]
	}
	return len(a) < len(b)
}

func leadingNumber(text string) string {
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	return text[:end]
}
