//go:build !linux

package relay

import "net"

func newTimer() timer { return newCoarseTimer() }

// missed returns 0: only Linux reports how many datagrams it dropped before they were read.
func missed(*net.UDPConn) uint64 { return 0 }

// askSource returns nil: the system chooses the address that answers come from.
func askSource(*net.UDPConn) []byte { return nil }

func answerFrom([]byte) []byte { return nil }
