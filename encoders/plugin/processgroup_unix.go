//go:build unix

package plugin

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a process into a process group of its own. Its children can then be killed with it, and it
// does not receive the terminal's interrupts, which the lab handles.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills a process and its children.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
