package wire

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// NVIDIA's own plugin behind ours, with a driver library that plays eight GPUs. Needs its program (CHIPWEAVE_NVIDIA_PLUGIN, built
// from github.com/NVIDIA/k8s-device-plugin), the folder of our libnvidia-ml.so.1 (CHIPWEAVE_FAKE_NVML_FOLDER), a file for it
// (CHIPWEAVE_FAKE_NVML), and the right to mount: its socket is always in /var/lib/kubelet/device-plugins.
func TestNvidiasOwnPluginPassesThrough(t *testing.T) {
	plugin, library := os.Getenv("CHIPWEAVE_NVIDIA_PLUGIN"), os.Getenv("CHIPWEAVE_FAKE_NVML_FOLDER")
	if plugin == "" || library == "" {
		t.Skip("CHIPWEAVE_NVIDIA_PLUGIN and CHIPWEAVE_FAKE_NVML_FOLDER do not name its program and a driver library")
	}
	folder := newFolder(t)
	private := filepath.Join(folder, "vendor")
	var chips []map[string]any
	for _, name := range []string{"0", "1", "2", "3", "4", "5", "6", "7"} {
		chips = append(chips, map[string]any{"index": len(chips), "id": "GPU-" + name})
	}
	text, _ := json.Marshal(map[string]any{"vendor": "nvidia", "model": "V100", "chips": chips})
	file := filepath.Join(folder, "machine.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	k := newKubelet(t, folder)
	k.start()
	run(t, folder, "--machine="+file, "--vendor-folder="+private)
	eventually(t, "the socket that looks like the kubelet's", func() bool {
		_, err := os.Stat(filepath.Join(private, "kubelet.sock"))
		return err == nil
	})
	theirs := exec.Command("unshare", "-m", "sh", "-c", `mount -t tmpfs tmpfs /var/lib && mkdir -p /var/lib/kubelet/device-plugins &&
		mount --bind "$0" /var/lib/kubelet/device-plugins && exec "$1" --device-discovery-strategy=nvml --pass-device-specs`, private, plugin)
	// Its health checks call more of the driver than ours plays.
	theirs.Env = append(os.Environ(), "LD_LIBRARY_PATH="+library, "DP_DISABLE_HEALTHCHECKS=all")
	log, _ := os.Create(filepath.Join(folder, "nvidia.log"))
	theirs.Stdout, theirs.Stderr = log, log
	if err := theirs.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		theirs.Process.Kill()
		theirs.Wait()
		if said, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("NVIDIA's plugin said:\n%s", said)
		}
	})
	want := "GPU-0+ GPU-1+ GPU-2+ GPU-3+ GPU-4+ GPU-5+ GPU-6+ GPU-7+"
	k.until("8 healthy GPUs", func() bool { return k.health() == want })
	ids, answer, err := k.give(k.client(), []string{"GPU-1", "GPU-2", "GPU-5"}, 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%v: %v", ids, answer)
	if answer.Envs["NVIDIA_VISIBLE_DEVICES"] != ids[0]+","+ids[1] || len(answer.Devices) == 0 {
		t.Errorf("%v", answer)
	}
}
