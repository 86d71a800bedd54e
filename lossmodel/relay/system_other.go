//go:build !linux

package relay

import "net"

// newTimer returns a runtimeTimer: timerfd exists on Linux only.
func newTimer() timer { return newRuntimeTimer() }

// kernelDrops returns 0: only Linux reports how many datagrams it dropped before they were read.
func kernelDrops(*net.UDPConn) uint64 { return 0 }

// enablePacketInfo returns nil: the system chooses the source address of answers.
func enablePacketInfo(*net.UDPConn) []byte { return nil }

// replyControlMessage returns nil: answers need no control message; see enablePacketInfo.
func replyControlMessage([]byte) []byte { return nil }
