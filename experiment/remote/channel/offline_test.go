package channel

import (
	"net/netip"
	"testing"
	"time"
)

// outbox stores the datagrams that a listener or session without a socket sends.
type outbox struct {
	sent [][]byte
	to   []netip.AddrPort
}

func (p *outbox) write(b []byte, to netip.AddrPort) error {
	p.sent, p.to = append(p.sent, append([]byte{}, b...)), append(p.to, to)
	return nil
}

// takeLast returns the newest datagram, or nil, and empties the outbox.
func (p *outbox) takeLast() (b []byte) {
	if len(p.sent) > 0 {
		b = p.sent[len(p.sent)-1]
	}
	p.sent, p.to = nil, nil
	return b
}

// newOfflineListener returns a listener without a socket, and its outbox.
func newOfflineListener(t testing.TB, o Options) (*Listener, *outbox) {
	t.Helper()
	o.Token = token(t, secret)
	o.setDefaults()
	p := &outbox{}
	return newListener(o, p.write), p
}

var (
	dialerAddr = netip.MustParseAddrPort("192.0.2.1:1000")
	otherAddr  = netip.MustParseAddrPort("192.0.2.2:1000")
)

// newOfflineDialer returns a dialer without a socket, and its first hello.
func newOfflineDialer(t testing.TB) (*dialer, []byte) {
	t.Helper()
	o := Options{Token: token(t, secret)}
	o.setDefaults()
	d := newDialer(o, 7)
	return d, d.hello.append(nil, &d.tokenMAC)
}

// helloWithCookie passes a retry to the dialer and returns its next hello.
func helloWithCookie(t testing.TB, d *dialer, retry []byte) []byte {
	t.Helper()
	if v, _, err := d.handleAnswer(retry); v.class != handshake || err != nil || d.hello.cookie == (cookie{}) {
		t.Fatalf("retry not accepted: %+v, %v", v, err)
	}
	return d.hello.append(nil, &d.tokenMAC)
}

// handshakeWith completes a handshake without sockets. It returns the dialer's and the listener's
// session, and the dialer's outbox; p is the listener's.
func handshakeWith(t testing.TB, l *Listener, p *outbox, at time.Duration) (here, there *Session, out *outbox) {
	t.Helper()
	d, first := newOfflineDialer(t)
	l.handleDatagram(first, dialerAddr, at)
	l.handleDatagram(helloWithCookie(t, d, p.takeLast()), dialerAddr, at)
	_, here, err := d.handleAnswer(p.takeLast())
	if err != nil || here == nil {
		t.Fatal(err)
	}
	out = &outbox{}
	here.start, here.onEnd = time.Now(), func(*Session, error) {}
	here.write = func(b []byte) error { return out.write(b, dialerAddr) }
	_ = here.send(controlStream, []byte{msgPing})
	l.handleDatagram(out.takeLast(), dialerAddr, at)
	select {
	case there = <-l.accepted:
	default:
		t.Fatal("the listener accepted no session")
	}
	if here.route(p.takeLast(), at); !here.confirmed() {
		t.Fatal("the listener did not answer")
	}
	return here, there, out
}
