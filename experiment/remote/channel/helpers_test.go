package channel

import (
	"context"
	"net/netip"
	"testing"
	"time"
)

// testTimeout limits waits for events that normally happen at once.
const testTimeout = 30 * time.Second

const secret = "0123456789abcdef0f1e2d3c4b5a6978"

// token parses the text of a token.
func token(t testing.TB, text string) Token {
	t.Helper()
	k, err := ParseToken(text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func loopback() netip.AddrPort { return netip.MustParseAddrPort("127.0.0.1:0") }

// testContext returns a context that ends after testTimeout.
func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	t.Cleanup(cancel)
	return ctx
}

// listen starts a listener on a loopback address with the test token.
func listen(t testing.TB, o Options) *Listener {
	t.Helper()
	if o.Token == (Token{}) {
		o.Token = token(t, secret)
	}
	l, err := Listen(loopback(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// connect dials l at address to and returns both sides of the session: the dialer's and the
// listener's.
func connect(t testing.TB, l *Listener, to netip.AddrPort, purpose uint8) (here, there *Session) {
	t.Helper()
	here, err := Dial(testContext(t), to, purpose, Options{Token: token(t, secret)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { here.Close() })
	there, err = l.Accept(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	return here, there
}

// receive waits for a datagram.
func receive(t testing.TB, s *Session) Datagram {
	t.Helper()
	d, err := s.Receive(testContext(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// waitFor waits until holds returns true.
func waitFor(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(testTimeout); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timeout waiting for %s", what)
		}
	}
}
