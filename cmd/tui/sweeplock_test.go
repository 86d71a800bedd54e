//go:build unix

package main

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"wirelab/internal/atomicfile/faultfs"
)

// TestSweepFolderLocked checks that nothing else writes the folder of a sweep while its process lives, running
// or stopped: the exit code is 3, and the message names process and machine. After SIGKILL the
// sweep can be resumed.
func TestSweepFolderLocked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, out := filepath.Join(dir, "grid.toml"), filepath.Join(dir, "out")
	text := "duration = \"100s\"\n[encoder]\nname = \"changed-index\"\n[sweep]\nrepeat = 400\n"
	write(t, file, text)
	cmd := exec.Command(os.Args[0], "sweep", file, "--out", out, "--serve", "127.0.0.1:0", "--jobs", "1")
	cmd.Env = append(os.Environ(), programEnv+"=1")
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	lines := bufio.NewScanner(stderr)
	for lines.Scan() && !strings.Contains(lines.Text(), "workers join with") {
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("process %d on %s", cmd.Process.Pid, host)
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	stopped, _ := faultfs.Tree(t, out)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(out, link); err != nil {
		t.Fatal(err)
	}
	refused := func(state string) {
		for _, args := range [][]string{
			{"sweep", file, "--out", out, "--serve", "127.0.0.1:0"},
			{"sweep", file, "--out", out, "--force"},
			{"sweep", "--resume", out},
			{"sweep", "--resume", link, "--force"},
			{"run", "--set", "duration=1s", "--out", out, "--force"},
		} {
			checkErr(t, tui("", args...), exitMachine, want)
		}
	}
	refused("stopped")
	if now, _ := faultfs.Tree(t, out); !maps.Equal(now, stopped) {
		t.Error("the folder has changed")
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	refused("running")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if o := tuiIn(cancelled(), metronome(), "sweep", "--resume", out); o.code != exitInterrupted {
		t.Errorf("after SIGKILL: exit code %d, %q", o.code, o.stderr)
	}
}
