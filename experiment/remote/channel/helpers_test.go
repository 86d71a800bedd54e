package channel

import (
	"context"
	"net/netip"
	"testing"
	"time"
)

// patience bounds waits that end as soon as what is waited for happens.
const patience = 30 * time.Second

const secret = "0123456789abcdef0f1e2d3c4b5a6978"

func token(t testing.TB, text string) Token {
	t.Helper()
	k, err := ParseToken(text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func loopback() netip.AddrPort { return netip.MustParseAddrPort("127.0.0.1:0") }

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

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

// dialed makes a session, and returns both of its ends.
func dialed(t testing.TB, l *Listener, to netip.AddrPort, purpose uint8) (here, there *Session) {
	t.Helper()
	here, err := Dial(within(t), to, purpose, Options{Token: token(t, secret)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { here.Close() })
	there, err = l.Accept(within(t))
	if err != nil {
		t.Fatal(err)
	}
	return here, there
}

func receive(t testing.TB, s *Session) Datagram {
	t.Helper()
	d, err := s.Receive(within(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// until waits for a condition.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never came: %s", what)
		}
	}
}
