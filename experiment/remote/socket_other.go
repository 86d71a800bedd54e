//go:build !linux

package remote

import (
	"net"
	"time"
)

// enableTimestamps does nothing: receive times are read on Linux only.
func enableTimestamps(*net.UDPConn) []byte { return nil }

// kernelWait returns 0, which means unknown.
func kernelWait([]byte, time.Time) time.Duration { return 0 }
