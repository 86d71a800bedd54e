//go:build !linux

package plugin

import "os/exec"

// EndOrphans does nothing: only Linux and Windows can end descendants that have left the process group, and
// Windows always does.
func EndOrphans() {}

// startChild starts cmd.
func startChild(cmd *exec.Cmd) error { return cmd.Start() }

// endOrphans does nothing, see EndOrphans.
func endOrphans(int) {}
