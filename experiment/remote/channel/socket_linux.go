package channel

import (
	"encoding/binary"
	"net"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// askAside makes the system say when it got each datagram, and how many it had no room
// for. It returns room for that.
func askAside(c *net.UDPConn) []byte {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1)
	})
	return make([]byte, unix.CmsgSpace(int(unsafe.Sizeof(unix.Timespec{})))+unix.CmsgSpace(4))
}

// readAside returns how long before now the system got the datagram, 0 if it does not say,
// and how many it dropped before.
func readAside(b []byte, now time.Time) (waited time.Duration, missed uint64) {
	for len(b) > 0 {
		h, data, rest, err := unix.ParseOneSocketControlMessage(b)
		if err != nil {
			break
		}
		b = rest
		switch {
		case h.Level != unix.SOL_SOCKET:
		case h.Type == unix.SO_RXQ_OVFL && len(data) >= 4:
			missed = uint64(binary.NativeEndian.Uint32(data))
		case h.Type == unix.SO_TIMESTAMPNS && len(data) >= int(unsafe.Sizeof(unix.Timespec{})):
			var got unix.Timespec
			copy(unsafe.Slice((*byte)(unsafe.Pointer(&got)), unsafe.Sizeof(got)), data)
			waited = time.Duration(now.UnixNano() - got.Nano())
		}
	}
	return waited, missed
}
