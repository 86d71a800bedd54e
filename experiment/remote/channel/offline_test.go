package channel

import (
	"net/netip"
	"testing"
	"time"
)

// post is what a listener without a socket has sent.
type post struct {
	sent [][]byte
	to   []netip.AddrPort
}

func (p *post) write(b []byte, to netip.AddrPort) error {
	p.sent, p.to = append(p.sent, append([]byte{}, b...)), append(p.to, to)
	return nil
}

// last returns the newest datagram, and forgets all.
func (p *post) last() (b []byte) {
	if len(p.sent) > 0 {
		b = p.sent[len(p.sent)-1]
	}
	p.sent, p.to = nil, nil
	return b
}

// offline is a listener without a socket, and what it sends.
func offline(t testing.TB, o Options) (*Listener, *post) {
	t.Helper()
	o.Token = token(t, secret)
	o.complete()
	p := &post{}
	return newListener(o, p.write), p
}

var (
	home  = netip.MustParseAddrPort("192.0.2.1:1000")
	other = netip.MustParseAddrPort("192.0.2.2:1000")
)

// dialing is a dialer without a socket, and its first hello.
func dialing(t testing.TB) (*dialer, []byte) {
	t.Helper()
	o := Options{Token: token(t, secret)}
	o.complete()
	d := &dialer{options: o, begin: time.Now(), hello: hello{purpose: 7, nonce: newNonce()}, token: o.Token.handshakeMAC()}
	return d, d.hello.append(nil, &d.token)
}

// second returns the hello that brings back a cookie.
func second(t testing.TB, d *dialer, retry []byte) []byte {
	t.Helper()
	if v, _, err := d.take(retry); v.class != handshake || err != nil || d.hello.cookie == (cookie{}) {
		t.Fatalf("the retry was not taken: %+v, %v", v, err)
	}
	return d.hello.append(nil, &d.token)
}

// handshakeWith shakes hands without sockets. What either end sends is in the posts.
func handshakeWith(t testing.TB, l *Listener, p *post, at time.Duration) (here, there *Session, out *post) {
	t.Helper()
	d, first := dialing(t)
	l.take(first, home, at)
	l.take(second(t, d, p.last()), home, at)
	_, here, err := d.take(p.last())
	if err != nil || here == nil {
		t.Fatal(err)
	}
	out = &post{}
	here.begin, here.leave = time.Now(), func(*Session, error) {}
	here.write = func(b []byte) error { return out.write(b, home) }
	_ = here.send(controlStream, []byte{sayPing})
	l.take(out.last(), home, at)
	select {
	case there = <-l.accepted:
	default:
		t.Fatal("no session was accepted")
	}
	if here.sort(p.last(), at); !here.confirmed() {
		t.Fatal("the listener did not answer")
	}
	return here, there, out
}
