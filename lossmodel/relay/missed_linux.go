package relay

import (
	"net"
	"unsafe"

	"golang.org/x/sys/unix"
)

// missed returns how many datagrams the system dropped because the socket's buffer was
// full.
func missed(c *net.UDPConn) uint64 {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	var info [9]uint32 // as sk_meminfo of linux/sock_diag.h; the last are the drops
	size := uint32(unsafe.Sizeof(info))
	_ = raw.Control(func(fd uintptr) {
		_, _, _ = unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_MEMINFO,
			uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	})
	return uint64(info[8])
}
