package remote

import (
	"net"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// enableTimestamps makes the kernel deliver the receive time with each datagram as a control message
// (socket(7): SO_TIMESTAMPNS). It returns a buffer for control messages, or nil if the socket is not
// accessible.
func enableTimestamps(c *net.UDPConn) []byte {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) })
	return make([]byte, unix.CmsgSpace(int(unsafe.Sizeof(unix.Timespec{}))))
}

// kernelWait returns how long before now the kernel received the datagram with the control message b; 0 if
// unknown.
func kernelWait(b []byte, now time.Time) time.Duration {
	h, data, _, err := unix.ParseOneSocketControlMessage(b)
	if err != nil || h.Level != unix.SOL_SOCKET || h.Type != unix.SO_TIMESTAMPNS {
		return 0
	}
	var receivedAt unix.Timespec
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&receivedAt)), unsafe.Sizeof(receivedAt)), data)
	return time.Duration(now.UnixNano() - receivedAt.Nano())
}
