//go:build unix

package plugin

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a process into a group of its own: what it starts can be ended with it, and
// an interrupt of the terminal is the lab's alone.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends a process and what it started.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
