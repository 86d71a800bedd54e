//go:build !linux

package channel

import (
	"net"
	"time"
)

// enableControlMessages does nothing: receive times and drop counters are read on Linux only.
func enableControlMessages(*net.UDPConn) []byte { return nil }

// parseControlMessages returns zeros, which mean unknown.
func parseControlMessages([]byte, time.Time) (waited time.Duration, dropped uint64) { return 0, 0 }
