//go:build !unix

package plugin

import "os/exec"

// ownGroup does nothing: process groups exist on Unix only.
func ownGroup(*exec.Cmd) {}

// killGroup kills a process, but not its children.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
