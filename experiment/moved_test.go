package experiment

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
)

// A replay finds the data files from any working folder: relative to the report or next to it, by
// their hash. Otherwise the error contains the missing file.
func TestReplayLocatesData(t *testing.T) {
	home := t.TempDir()
	move := func(from, to string) {
		t.Helper()
		noError(t, errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.Rename(from, to)))
	}
	move(labtest.WriteRecording(t, 20, 60), filepath.Join(home, "data", "crowd.bin"))
	overwriteFile(t, filepath.Join(home, "data", "link.csv"),
		"seq,send_us,recv_us\n0,0,500\n1,16000,17000\n2,32000,lost\n3,48000,49500\n")
	t.Chdir(home)
	for name, sweep := range map[string]bool{"one": false, "many": true} {
		c := config.Default()
		c.Data.Source, c.Data.Cubes, c.Encoder.Name, c.Duration = "file:data/crowd.bin", 20, "quantized", 300*time.Millisecond
		testkit.Set(t, c, "down.trace", "data/link.csv", "at[0].t", "100ms", "at[0].down.loss", "20%")
		if sweep {
			c.Sweep = []config.Axis{{Key: "seed", Values: []any{int64(1), int64(2)}}}
		}
		mustRun(t, c, RunOptions{Dir: filepath.Join("out", name)})
	}
	var saved engine.Result
	noError(t, json.Unmarshal([]byte(readFile(t, "out", "one/report.json")), &saved))
	if len(saved.Files) != 2 || saved.Files[0].Name != "data/crowd.bin" || saved.Files[0].Path != "../../data/crowd.bin" ||
		len(saved.Files[0].SHA256) != 64 {
		t.Errorf("files %+v", saved.Files)
	}
	checkReplay(t, "out/one")
	t.Chdir(t.TempDir())
	for _, path := range []string{"one", "many", "many/run-001", "one/report.json"} {
		checkReplay(t, filepath.Join(home, "out", path))
	}
	there := t.TempDir() // the report is moved, with the data next to it
	move(filepath.Join(home, "out", "one"), filepath.Join(there, "one"))
	move(filepath.Join(home, "data", "crowd.bin"), filepath.Join(there, "one", "crowd.bin"))
	move(filepath.Join(home, "data", "link.csv"), filepath.Join(there, "one", "link.csv"))
	checkReplay(t, filepath.Join(there, "one"))

	crowd := filepath.Join(there, "one", "crowd.bin")
	overwriteFile(t, crowd, readFile(t, there, "one/crowd.bin")[1:]+"x")
	refused := func(says ...string) {
		t.Helper()
		_, err := Replay(t.Context(), filepath.Join(there, "one"), RunOptions{})
		for _, want := range append(says, "data/crowd.bin", saved.Files[0].SHA256, crowd) {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v; want a word of %q", err, want)
			}
		}
	}
	refused("the file has changed")
	noError(t, os.Remove(crowd))
	refused("the file does not exist")
}
