package channel

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/internal/panics"
)

// Payloads of all sizes are delivered in both directions, for several sessions on one socket,
// over IPv4 and IPv6.
func TestSendBothDirections(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := Listen(netip.MustParseAddrPort(at), Options{Token: token(t, secret)})
		if err != nil {
			t.Skipf("%s: %v", at, err)
		}
		t.Cleanup(func() { l.Close() })
		for purpose := range uint8(3) {
			here, there := connect(t, l, l.Addr(), purpose)
			if there.Purpose() != purpose || here.Remote() != l.Addr() {
				t.Errorf("purpose %d from %s", there.Purpose(), here.Remote())
			}
			for _, ends := range [][2]*Session{{here, there}, {there, here}} {
				for stream, size := range map[uint8]int{1: 0, 2: 1, 255: 1200, 9: MaxPayload} {
					before := time.Now()
					sent := bytes.Repeat([]byte{stream}, size)
					if err := ends[0].Send(stream, sent); err != nil {
						t.Fatal(err)
					}
					d := receive(t, ends[1])
					if d.Stream != stream || !bytes.Equal(d.Data, sent) || d.At.Before(before) || d.At.After(time.Now()) || d.Duplicate {
						t.Errorf("stream %d: %d bytes of stream %d at %v", stream, len(d.Data), d.Stream, d.At)
					}
				}
				if b := ends[1].Stats(); b.Delivered != 4 || b.DeliveredBytes != 1201+MaxPayload || !b.Balanced() || b.Dropped() != 0 {
					t.Errorf("%+v", b)
				}
			}
		}
		if b := l.Stats(); !b.Balanced() || b.Dropped() != 0 || b.Sent != 12 {
			t.Errorf("%+v", b)
		}
	}
}

// A panic in a goroutine of a session or listener ends its sessions and becomes their error.
func TestPanicsEndSessions(t *testing.T) {
	l, err := Listen(netip.MustParseAddrPort("127.0.0.1:0"), Options{Token: token(t, secret), Idle: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	here, there := connect(t, l, l.Addr(), 1)
	end := func(s *Session) {
		t.Helper()
		select {
		case <-s.Done():
		case <-time.After(10 * time.Second):
			t.Fatal("the session did not end")
		}
	}
	var bug *panics.Error
	there.in.Lock()
	there.in.gcm = gcm{} // the next datagram makes open panic
	there.in.Unlock()
	if err := here.Send(1, []byte("x")); err != nil {
		t.Fatal(err)
	}
	end(there)
	if !errors.As(there.Err(), &bug) {
		t.Errorf("the session ended with %v", there.Err())
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := l.Accept(ctx); !errors.Is(err, errClosed) {
		t.Errorf("accepted, %v", err)
	}
	if err := l.Close(); !errors.As(err, &bug) {
		t.Errorf("the listener was closed with %v", err)
	}
	other := listen(t, Options{})
	here, there = connect(t, other, other.Addr(), 1)
	here.in.Lock()
	here.in.gcm = gcm{}
	here.in.Unlock()
	if err := there.Send(1, []byte("x")); err != nil {
		t.Fatal(err)
	}
	end(here)
	if !errors.As(here.Err(), &bug) {
		t.Errorf("the session ended with %v", here.Err())
	}
}

// A datagram has Overhead more bytes than its payload.
func TestOverhead(t *testing.T) {
	l := listen(t, Options{})
	here, _ := connect(t, l, l.Addr(), 1)
	was := here.Stats()
	if was.Out == 0 || was.Unsent != 0 {
		t.Errorf("after the handshake: %+v", was)
	}
	_ = here.Send(1, make([]byte, 100))
	if now := here.Stats(); now.OutBytes-was.OutBytes != 100+Overhead || now.SentBytes != 100 {
		t.Errorf("%+v after %+v", now, was)
	}
	if err := here.Send(1, make([]byte, MaxPayload+1)); err == nil {
		t.Error("no error for a payload above MaxPayload")
	}
}

// A dialer's session drops answers of a handshake as unexpected, and unknown kinds as malformed.
func TestRouteAfterHandshake(t *testing.T) {
	l, p := newOfflineListener(t, Options{})
	here, _, _ := handshakeWith(t, l, p, 0)
	for kind, want := range map[uint8]cause{kindRetry: unknownSession, kindWelcome: unknownSession, kindRefusal: unknownSession, kindHello: malformed, kindData: malformed} {
		was := here.Stats()
		here.route([]byte{firstByte(kind)}, 0)
		if now := here.Stats(); now.DroppedBy[want] != was.DroppedBy[want]+1 || now.In != was.In+1 || !now.Balanced() {
			t.Errorf("kind %d: %+v after %+v", kind, now, was)
		}
	}
}

// A dialer's session pings when it has received or sent nothing for more than a quarter of the idle timeout.
func TestPingsWhenSilent(t *testing.T) {
	l, p := newOfflineListener(t, Options{Idle: 4 * time.Second})
	here, _, out := handshakeWith(t, l, p, 0)
	here.sendsPings, here.idleTimeout = true, 4*time.Second
	for _, x := range []struct {
		received, sent, now time.Duration
		pings               int
	}{{60, 60, 60, 0}, {60, 60, 61, 0}, {60, 61, 62, 1}, {61, 60, 62, 1}, {61, 61, 62, 0}} {
		here.in.lastReceived, here.out.lastSent = x.received*time.Second, x.sent*time.Second
		here.maintain(x.now * time.Second)
		if len(out.sent) != x.pings {
			t.Errorf("at %d s, received at %d s and sent at %d s: %d pings, want %d", x.now, x.received, x.sent, len(out.sent), x.pings)
		}
		out.takeLast()
	}
}

// The smallest receive buffer has room for two datagrams of the largest size.
func TestSmallestBuffer(t *testing.T) {
	o := Options{Token: token(t, secret), Buffer: 1}
	o.setDefaults()
	q := queue{ring: make([]byte, o.Buffer)}
	largest := &Datagram{Data: make([]byte, MaxPayload)}
	for i := range 2 {
		if !q.push(largest, 0) {
			t.Errorf("datagram %d does not fit into a buffer of %d bytes", i, o.Buffer)
		}
	}
	buf := make([]byte, MaxPayload)
	if d, _, ok := q.pop(buf); !ok || &d.Data[0] != &buf[0] {
		t.Error("a payload was not stored in a buffer of its size")
	}
}

// Close notifies the peer; both sides then return errors.
func TestBye(t *testing.T) {
	l := listen(t, Options{})
	here, there := connect(t, l, l.Addr(), 1)
	_ = here.Send(7, []byte("last"))
	here.Close()
	if d := receive(t, there); string(d.Data) != "last" {
		t.Errorf("%q", d.Data)
	}
	if _, err := there.Receive(testContext(t), nil); err != io.EOF {
		t.Errorf("after a bye: %v", err)
	}
	if err := there.Send(1, nil); err != io.EOF {
		t.Errorf("sending after a bye: %v", err)
	}
	if err := here.Send(1, nil); err != errClosed {
		t.Errorf("sending after Close: %v", err)
	}
	here, _ = connect(t, l, l.Addr(), 1)
	l.Close()
	if _, err := here.Receive(testContext(t), nil); err != io.EOF {
		t.Errorf("after the listener was closed: %v", err)
	}
	if _, err := l.Accept(testContext(t)); err != errClosed {
		t.Errorf("Accept of a closed listener: %v", err)
	}
}

// Pings keep an idle session alive. A session whose peer has disappeared ends.
func TestIdle(t *testing.T) {
	o := Options{Token: token(t, secret), Idle: time.Second}
	l := listen(t, o)
	here, err := Dial(testContext(t), l.Addr(), 1, o)
	if err != nil {
		t.Fatal(err)
	}
	there, err := l.Accept(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "pings", func() bool { return there.Stats().Control > 5 && here.Stats().Control > 5 })
	if here.Err() != nil || there.Err() != nil {
		t.Errorf("idle sessions ended: %v, %v", here.Err(), there.Err())
	}
	l.conn.Close() // without a bye
	<-here.Done()
	<-there.Done()
	if here.Err() != errIdle || there.Err() != errIdle {
		t.Errorf("%v, %v", here.Err(), there.Err())
	}
	if b := here.Stats(); b.Unreachable == 0 || !b.Balanced() {
		t.Errorf("no ICMP error was counted: %+v", b)
	}
}

// Unknown purposes and sessions beyond the limit are refused.
func TestDialRefused(t *testing.T) {
	l := listen(t, Options{MaxSessions: 1, Purposes: []uint8{1}})
	var refused *RefusedError
	if _, err := Dial(testContext(t), l.Addr(), 2, Options{Token: token(t, secret)}); !errors.As(err, &refused) || refused.Reason != refusedPurpose {
		t.Errorf("an unknown purpose: %v", err)
	}
	here, _ := connect(t, l, l.Addr(), 1)
	if _, err := Dial(testContext(t), l.Addr(), 1, Options{Token: token(t, secret)}); !errors.As(err, &refused) || refused.Reason != refusedFull {
		t.Errorf("session beyond MaxSessions: %v", err)
	}
	here.Close()
	waitFor(t, "the end of the session", func() bool { l.mu.Lock(); defer l.mu.Unlock(); return len(l.sessions) == 0 })
	connect(t, l, l.Addr(), 1)
	if b := l.Stats(); b.DroppedBy[full] != 2 || !b.Balanced() {
		t.Errorf("%+v", b)
	}
}

// A dialer with a different token gets no answer.
func TestDialWithOtherToken(t *testing.T) {
	l := listen(t, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		defer cancel()
		waitFor(t, "two forged hellos", func() bool { return l.Stats().DroppedBy[Forged] > 1 })
	}()
	_, err := Dial(ctx, l.Addr(), 1, Options{Token: token(t, strings.Repeat("0123456789abcdef", 2))})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if b := l.Stats(); b.Out != 0 || !b.Balanced() {
		t.Errorf("%+v", b)
	}
}

// Dial succeeds when the listener starts after it.
func TestDialBeforeListen(t *testing.T) {
	c, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(loopback()))
	if err != nil {
		t.Fatal(err)
	}
	at := c.LocalAddr().(*net.UDPAddr).AddrPort()
	c.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := Dial(context.Background(), at, 1, Options{Token: token(t, secret)})
		ended <- err
	}()
	l, err := Listen(at, Options{Token: token(t, secret)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// ParseToken refuses texts that can be guessed; NewToken returns different tokens.
func TestTokens(t *testing.T) {
	for text, good := range map[string]bool{
		NewToken():                          true,
		secret:                              true,
		secret[1:]:                          false,
		strings.ToUpper(secret):             true,
		"":                                  false,
		"password":                          false,
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": false,
		"MTIzNDU2Nzg5MGFiY2RlZg":            true,
		"0123456789012345678901234567890":   false,
	} {
		if _, err := ParseToken(text); (err == nil) != good || err != nil && !errors.Is(err, errToken) {
			t.Errorf("%q: %v", text, err)
		}
	}
	seen := []string{}
	for range 100 {
		seen = append(seen, NewToken())
	}
	slices.Sort(seen)
	if len(slices.Compact(seen)) != 100 || len(seen[0]) != 32 {
		t.Error("tokens repeat")
	}
}
