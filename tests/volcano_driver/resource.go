package main

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// Amounts as Volcano counts them: millicores, bytes, and all other resources in thousandths except pods.
type resource struct {
	MilliCPU        float64
	Memory          float64
	ScalarResources map[string]float64
	MaxTaskNum      int
}

var suffixes = []struct {
	text  string
	times float64
}{
	{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"Ti", 1 << 40}, {"Pi", 1 << 50}, {"Ei", 1 << 60},
	{"n", 1e-9}, {"u", 1e-6}, {"m", 1e-3}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}, {"E", 1e18},
}

// A Kubernetes quantity: "8", "500m", "256Gi", "1e3".
func parseQuantity(text string) (float64, error) {
	number, times := text, 1.0
	for _, s := range suffixes {
		if rest, found := strings.CutSuffix(text, s.text); found {
			number, times = rest, s.times
			break
		}
	}
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("expected a quantity, got %q", text)
	}
	return value * times, nil
}

func resourceOf(amounts map[string]string) (*resource, error) {
	r := &resource{}
	for name, text := range amounts {
		value, err := parseQuantity(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		switch name {
		case "cpu":
			r.MilliCPU = value * 1000
		case "memory":
			r.Memory = value
		case "pods":
			r.setScalar(name, value)
			r.MaxTaskNum = int(value)
		default:
			r.setScalar(name, value*1000)
		}
	}
	return r, nil
}

func (r *resource) setScalar(name string, value float64) {
	if r.ScalarResources == nil {
		r.ScalarResources = map[string]float64{}
	}
	r.ScalarResources[name] = value
}

func (r *resource) clone() *resource {
	c := *r
	c.ScalarResources = maps.Clone(r.ScalarResources)
	return &c
}

func (r *resource) add(other *resource) { r.change(other, 1) }
func (r *resource) sub(other *resource) { r.change(other, -1) }

func (r *resource) change(other *resource, sign float64) {
	r.MilliCPU += sign * other.MilliCPU
	r.Memory += sign * other.Memory
	for name, value := range other.ScalarResources {
		r.setScalar(name, r.ScalarResources[name]+sign*value)
	}
}

// Raises every amount to the other's where that is larger.
func (r *resource) raiseTo(other *resource) {
	r.MilliCPU = max(r.MilliCPU, other.MilliCPU)
	r.Memory = max(r.Memory, other.Memory)
	for name, value := range other.ScalarResources {
		r.setScalar(name, max(r.ScalarResources[name], value))
	}
}

func (r *resource) fits(room *resource) bool {
	if r.MilliCPU > room.MilliCPU || r.Memory > room.Memory {
		return false
	}
	for name, value := range r.ScalarResources {
		if value > room.ScalarResources[name] {
			return false
		}
	}
	return true
}
