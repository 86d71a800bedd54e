//go:build !unix

package plugin

import "os/exec"

func ownGroup(*exec.Cmd) {}

// killGroup ends a process; what it started goes on until its input ends.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
