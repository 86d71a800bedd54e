package channel

import (
	"encoding/binary"
	"net"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// enableControlMessages makes the kernel deliver the receive time and the drop counter with each
// datagram (socket(7): SO_TIMESTAMPNS, SO_RXQ_OVFL). It returns a buffer for them.
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
// datagrams it had dropped by then; 0 if unknown.
func parseControlMessages(b []byte, now time.Time) (waited time.Duration, missed uint64) {
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
