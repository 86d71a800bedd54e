//go:build !unix

package states

import "time"

// cpuTime returns 0, which means unknown: the CPU time is read on Unix only.
func cpuTime() time.Duration { return 0 }
