//go:build unix

package plugin

import (
	"os/exec"
	"syscall"
)

// A processTree is a process of a plugin with those of its descendants that are in its process group.
type processTree struct{ cmd *exec.Cmd }

// startTree starts cmd in a process group of its own. Its children can then be killed with it, and it does not
// receive the terminal's interrupts, which the lab handles.
func startTree(cmd *exec.Cmd) (*processTree, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return &processTree{cmd}, cmd.Start()
}

// kill kills the process and all processes of its group.
func (t *processTree) kill() { _ = syscall.Kill(-t.cmd.Process.Pid, syscall.SIGKILL) }

// end kills all processes of the group that are still running. Call it after the Wait of the process.
func (t *processTree) end() { t.kill() }
