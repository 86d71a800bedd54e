package plugin

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// orphans is the state for ending descendants of plugin processes that have left the process group, as setsid
// does. When the parent of such a process ends, the system makes it a child of the lab, because the lab is its
// "child subreaper" (prctl(2)). The lab itself starts children only in two ways: startChild, which adds them to
// spared, and in the lab's own process group. All other children are orphans of plugins.
var orphans = struct {
	mu      sync.Mutex
	enabled bool         // EndOrphans was called
	adopted bool         // the lab is a child subreaper
	spared  map[int]bool // ids of children that must not be killed
}{spared: map[int]bool{}}

// EndOrphans makes the package end the descendants of plugin processes also if they have called setsid: as soon
// as their parent has ended and any plugin process ends. Only a program that starts all other children in its own
// process group may call it; the package would kill those in other groups.
func EndOrphans() {
	orphans.mu.Lock()
	defer orphans.mu.Unlock()
	orphans.enabled = true
}

// startChild starts cmd, and before the first one makes the lab a child subreaper. Without EndOrphans, or if
// the lab has inherited children in other process groups from the program that it replaced by exec, the lab
// stays an ordinary parent.
func startChild(cmd *exec.Cmd) error {
	orphans.mu.Lock()
	defer orphans.mu.Unlock()
	if orphans.enabled && !orphans.adopted && len(orphans.spared) == 0 && len(listOrphans()) == 0 {
		orphans.adopted = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == nil
	}
	err := cmd.Start()
	if err == nil {
		orphans.spared[cmd.Process.Pid] = true
	}
	return err
}

// endOrphans kills all orphans after the plugin process pid, which startChild started, has ended. Killing an
// orphan makes its own children orphans, so endOrphans repeats this until none is left, for at most a second.
func endOrphans(pid int) {
	orphans.mu.Lock()
	defer orphans.mu.Unlock()
	delete(orphans.spared, pid)
	if !orphans.adopted {
		return
	}
	const rounds = 1000
	for range rounds {
		list := listOrphans()
		if len(list) == 0 {
			return
		}
		for _, orphan := range list {
			reaped, _ := syscall.Wait4(orphan, nil, syscall.WNOHANG, nil)
			if reaped == 0 && syscall.Kill(orphan, syscall.SIGKILL) == syscall.EPERM {
				orphans.spared[orphan] = true // runs as another user
			}
		}
		time.Sleep(time.Second / rounds) // a killed process takes a moment to exit
	}
}

// listOrphans returns the ids of the lab's children that are neither spared nor in the lab's process group. It
// returns none if /proc cannot be read. The caller must hold orphans.mu.
func listOrphans() (list []int) {
	self, group := os.Getpid(), syscall.Getpgrp()
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || orphans.spared[pid] {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // the process has ended
		}
		var state string
		var parent, processGroup int
		// The name in parentheses may contain spaces and parentheses; the fields that follow it do not.
		fields := stat[bytes.LastIndexByte(stat, ')')+1:]
		if n, _ := fmt.Sscan(string(fields), &state, &parent, &processGroup); n == 3 && parent == self && processGroup != group {
			list = append(list, pid)
		}
	}
	return list
}
