package channel

import (
	"net"
	"testing"
	"time"
)

// The kernel reports when it received a datagram, and how many datagrams it dropped because the buffer was full.
func TestControlMessages(t *testing.T) {
	c, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(loopback()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, self := newSocket(c), c.LocalAddr().(*net.UDPAddr).AddrPort()
	send := func() {
		t.Helper()
		if _, err := c.WriteToUDPAddrPort(make([]byte, 1000), self); err != nil {
			t.Fatal(err)
		}
	}
	_ = c.SetReadDeadline(time.Now().Add(testTimeout))
	read := func() (controlMessages []byte) {
		t.Helper()
		_, n, _, _, err := s.ReadMsgUDPAddrPort(make([]byte, 1<<16), s.oob)
		if err != nil {
			t.Fatal(err)
		}
		return s.oob[:n]
	}
	sentAt := time.Now()
	send()
	b := read()
	if len(b) == 0 {
		t.Skip("this kernel delivers no control messages")
	}
	// An hour is added because a system clock that is set back meanwhile must not fail the test.
	waited, dropped := parseControlMessages(b, sentAt.Add(time.Hour))
	if waited < time.Hour-time.Minute || waited > time.Hour+time.Minute || dropped != 0 {
		t.Errorf("one hour after sending: received %v ago, %d dropped; want about 1h and 0", waited, dropped)
	}

	_ = c.SetReadBuffer(1 << 14)
	sent, received := uint64(0), uint64(0)
	for range 300 {
		send()
		sent++
	}
	for dropped = 0; dropped == 0 && received < 300; received++ { // a datagram sent after a drop carries the count
		_, dropped = parseControlMessages(read(), time.Now())
		send()
		sent++
	}
	if dropped == 0 || dropped > sent-received {
		t.Errorf("%d datagrams sent, %d read, %d dropped", sent, received, dropped)
	}
}
