package channel

import (
	"encoding/binary"
	"net"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// enableControlMessages makes the kernel deliver the receive time and the drop counter with each
// datagram as control messages (socket(7): SO_TIMESTAMPNS, SO_RXQ_OVFL). It returns a buffer for
// them, or nil if the socket is not accessible.
func enableControlMessages(c *net.UDPConn) []byte {
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

// parseControlMessages returns how long before now the kernel received the datagram, and how many
// datagrams it had dropped by then because the receive buffer was full; 0 if unknown.
func parseControlMessages(b []byte, now time.Time) (waited time.Duration, dropped uint64) {
	for len(b) > 0 {
		h, data, rest, err := unix.ParseOneSocketControlMessage(b)
		if err != nil {
			break
		}
		b = rest
		switch {
		case h.Level != unix.SOL_SOCKET: // ignored: both messages below have this level
		case h.Type == unix.SO_RXQ_OVFL && len(data) >= 4:
			dropped = uint64(binary.NativeEndian.Uint32(data))
		case h.Type == unix.SO_TIMESTAMPNS && len(data) >= int(unsafe.Sizeof(unix.Timespec{})):
			var receivedAt unix.Timespec
			copy(unsafe.Slice((*byte)(unsafe.Pointer(&receivedAt)), unsafe.Sizeof(receivedAt)), data)
			waited = time.Duration(now.UnixNano() - receivedAt.Nano())
		}
	}
	return waited, dropped
}
