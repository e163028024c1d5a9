// auditor — prints what a container sees of chips, as one line of JSON, and sleeps until it is stopped.
//
// It says which device nodes are in /dev, and which chips it can really open: it makes a node for each of them, and opens it.
// The kernel's device control refuses (EPERM) what the container was not given; no driver serves the others (ENXIO).
//
//	auditor                            tells, and sleeps
//	auditor --end-after 2s --status 1  ends by itself
//	auditor --quiet                    tells nothing: a sandbox
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	major = 195 // of the fake chips
	chips = 8
)

// environment has what tells a vendor's runtime, or a program, which chips to use.
var environment = []string{"NVIDIA_VISIBLE_DEVICES", "CHIPWEAVE_"}

type node struct {
	Name  string `json:"name"`
	Major uint64 `json:"major"`
	Minor uint64 `json:"minor"`
}

type sight struct {
	TimeMs      int64             `json:"timeMs"`
	Environment map[string]string `json:"environment"`
	Nodes       []node            `json:"nodes"`
	Opens       []int             `json:"opens"`
	Trouble     []string          `json:"trouble,omitempty"`
}

func number(dev uint64) (uint64, uint64) {
	return (dev>>8)&0xfff | (dev>>32)&^uint64(0xfff), dev&0xff | (dev>>12)&^uint64(0xff)
}

func look() sight {
	found := sight{TimeMs: time.Now().UnixMilli(), Environment: map[string]string{}, Nodes: []node{}, Opens: []int{}}
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		for _, prefix := range environment {
			if strings.HasPrefix(name, prefix) {
				found.Environment[name] = value
			}
		}
	}
	names, _ := filepath.Glob("/dev/nvidia[0-9]*")
	for _, name := range names {
		var stat syscall.Stat_t
		if err := syscall.Stat(name, &stat); err != nil {
			found.Trouble = append(found.Trouble, err.Error())
			continue
		}
		ma, mi := number(stat.Rdev)
		found.Nodes = append(found.Nodes, node{filepath.Base(name), ma, mi})
	}
	for minor := 0; minor < chips; minor++ {
		switch err := open(minor); {
		case err == nil, errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.ENODEV):
			found.Opens = append(found.Opens, minor)
		case !errors.Is(err, syscall.EPERM):
			found.Trouble = append(found.Trouble, fmt.Sprintf("chip %d: %v", minor, err))
		}
	}
	return found
}

func open(minor int) error {
	name := fmt.Sprintf("/dev/try-%d-%d", os.Getpid(), minor)
	if err := syscall.Mknod(name, syscall.S_IFCHR|0o600, major<<8|minor); err != nil {
		return fmt.Errorf("mknod: %w", errors.New(err.Error()))
	}
	defer syscall.Unlink(name)
	file, err := syscall.Open(name, syscall.O_RDWR, 0)
	if err == nil {
		syscall.Close(file)
	}
	return err
}

func main() {
	after := flag.Duration("end-after", 0, "end by itself")
	status := flag.Int("status", 0, "exit status of --end-after")
	quiet := flag.Bool("quiet", false, "tell nothing")
	flag.Parse()
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM, syscall.SIGINT)
	if !*quiet {
		line, _ := json.Marshal(look())
		fmt.Println(string(line))
	}
	if *after > 0 {
		select {
		case <-told:
		case <-time.After(*after):
			os.Exit(*status)
		}
		return
	}
	<-told
}
