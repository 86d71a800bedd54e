package relay

import (
	"net"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernelDrops returns how many datagrams the kernel dropped because the socket's receive buffer
// was full; 0 if the socket is not accessible.
func kernelDrops(c *net.UDPConn) uint64 {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	var info [9]uint32 // SK_MEMINFO_* of linux/sock_diag.h; index 8 is SK_MEMINFO_DROPS
	size := uint32(unsafe.Sizeof(info))
	_ = raw.Control(func(fd uintptr) {
		_, _, _ = unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_MEMINFO,
			uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	})
	return uint64(info[8])
}
