package wire

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// chipweave-device-plugin as a process.
type process struct {
	t       *testing.T
	command *exec.Cmd
	done    chan error
	mutex   sync.Mutex
	log     bytes.Buffer
}

func (p *process) Write(text []byte) (int, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.log.Write(text)
}

func (p *process) said() string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.log.String()
}

func program(t *testing.T) string {
	path := os.Getenv("CHIPWEAVE_DEVICE_PLUGIN")
	if path == "" {
		t.Skip("CHIPWEAVE_DEVICE_PLUGIN does not name the program")
	}
	return path
}

// Short, because the paths of sockets are.
func newFolder(t *testing.T) string {
	folder, err := os.MkdirTemp("", "dp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return folder
}

func run(t *testing.T, folder string, arguments ...string) *process {
	p := &process{t: t, done: make(chan error, 1)}
	arguments = append([]string{"--node=n1", "--resource=" + resource, "--device-plugins=" + folder,
		"--pod-resources=" + filepath.Join(folder, "pods.sock")}, arguments...)
	if !strings.Contains(strings.Join(arguments, " "), "--gate-file") {
		arguments = append(arguments, "--gate-file="+filepath.Join(folder, "gate"))
	}
	p.command = exec.Command(program(t), arguments...)
	p.command.Stdout, p.command.Stderr = p, p
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- p.command.Wait() }()
	t.Cleanup(func() {
		p.signal(syscall.SIGKILL)
		if t.Failed() {
			t.Logf("the plugin said:\n%s", p.said())
		}
	})
	return p
}

func (p *process) signal(which syscall.Signal) {
	p.command.Process.Signal(which)
}

// The exit status, -1 for a signal.
func (p *process) ended() int {
	p.t.Helper()
	select {
	case <-p.done:
		p.done <- nil
		return p.command.ProcessState.ExitCode()
	case <-time.After(patience):
		p.t.Fatal("the plugin does not end")
		return -1
	}
}

func gate(folder string) string {
	text, _ := os.ReadFile(filepath.Join(folder, "gate"))
	return strings.TrimSpace(string(text))
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}
