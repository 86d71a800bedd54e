package channel

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"
)

// listenerState returns the sizes of everything that a listener stores apart from its counters.
func listenerState(l *Listener) [3]int {
	return [3]int{len(l.sessions), len(l.handshakes.recentHellos), len(l.accepted)}
}

// Hellos without a cookie get a shorter answer and leave no state in the listener.
func TestHelloFloodLeavesNoState(t *testing.T) {
	l, p := newOfflineListener(t, Options{})
	sent, got := 0, 0
	for range 2000 {
		_, b := newOfflineDialer(t)
		l.handleDatagram(b, dialerAddr, time.Second)
		sent, got = sent+len(b), got+len(p.takeLast())
	}
	if b := l.Stats(); listenerState(l) != [3]int{} || b.Handshake != 2000 || b.Out != 2000 || b.Unsent != 0 || !b.Balanced() {
		t.Errorf("state %v, %+v", listenerState(l), b)
	}
	if 3*got > sent {
		t.Errorf("%d bytes received, %d bytes answered, expected at most a third", sent, got)
	}
}

// Every answer of a handshake is shorter than the hello.
func TestAnswersAreShorter(t *testing.T) {
	for _, n := range []int{retryBytes, welcomeBytes, refusalBytes} {
		if n >= helloBytes {
			t.Errorf("an answer of %d bytes to a hello of %d", n, helloBytes)
		}
	}
}

// Hellos with a changed bit, a wrong length or without the token get no answer.
func TestForgedHellos(t *testing.T) {
	l, p := newOfflineListener(t, Options{})
	d, first := newOfflineDialer(t)
	l.handleDatagram(first, dialerAddr, 0)
	again := helloWithCookie(t, d, p.takeLast())
	n := uint64(0)
	for _, b := range [][]byte{first, again} {
		for bit := range 8 * len(b) {
			forged := slices.Clone(b)
			forged[bit/8] ^= 1 << (bit % 8)
			l.handleDatagram(forged, dialerAddr, 0)
			n++
		}
		for cut := range len(b) {
			l.handleDatagram(slices.Clone(b[:cut]), dialerAddr, 0)
			n++
		}
		l.handleDatagram(append(slices.Clone(b), 0), dialerAddr, 0)
		n++
	}
	if b := l.Stats(); len(p.sent) > 0 || listenerState(l) != [3]int{} || b.Dropped() != n || !b.Balanced() {
		t.Errorf("%d answers, state %v, %+v after %d", len(p.sent), listenerState(l), b, n)
	}
}

// A cookie is valid for one address, nonce, purpose and listener, and for cookieLifetime.
func TestCookies(t *testing.T) {
	l, p := newOfflineListener(t, Options{})
	d, first := newOfflineDialer(t)
	l.handleDatagram(first, dialerAddr, time.Minute)
	retry := p.takeLast()
	again := helloWithCookie(t, d, retry)
	reject := func(what string, cause cause, b []byte, do func(b []byte)) {
		t.Helper()
		was := l.Stats()
		do(slices.Clone(b))
		if now := l.Stats(); now.DroppedBy[cause] != was.DroppedBy[cause]+1 || len(p.sent) > 0 || listenerState(l) != [3]int{} {
			t.Errorf("%s: state %v, %d answers, %+v", what, listenerState(l), len(p.sent), now)
		}
	}
	reject("another address", Forged, again, func(b []byte) { l.handleDatagram(b, otherAddr, time.Minute) })
	stolen, _ := newOfflineDialer(t)
	stolen.hello.cookie = d.hello.cookie
	reject("another nonce", Forged, stolen.hello.append(nil, &d.tokenMAC), func(b []byte) { l.handleDatagram(b, dialerAddr, time.Minute) })
	changed := d.hello
	changed.purpose++
	reject("another purpose", Forged, changed.append(nil, &d.tokenMAC), func(b []byte) { l.handleDatagram(b, dialerAddr, time.Minute) })
	reject("too late", expired, again, func(b []byte) { l.handleDatagram(b, dialerAddr, time.Minute+cookieLifetime+1) })
	reject("before it was issued", expired, again, func(b []byte) { l.handleDatagram(b, dialerAddr, time.Minute-1) })
	restarted, _ := newOfflineListener(t, Options{})
	restarted.handleDatagram(slices.Clone(again), dialerAddr, time.Minute)
	if b := restarted.Stats(); b.DroppedBy[Forged] != 1 || listenerState(restarted) != [3]int{} {
		t.Errorf("another listener: %+v", b)
	}
	l.handleDatagram(again, dialerAddr, time.Minute)
	if listenerState(l) != [3]int{1, 1, 0} {
		t.Errorf("the genuine hello: %v", listenerState(l))
	}
}

// A cookie depends on every bit of the nonce, of the address and of the port.
func TestCookieBits(t *testing.T) {
	l, _ := newOfflineListener(t, Options{})
	d, _ := newOfflineDialer(t)
	genuine := l.handshakes.cookieFor(&d.hello, dialerAddr, time.Minute)
	for bit := range 8 * nonceBytes {
		h := d.hello
		h.opening[bit/8] ^= 1 << (bit % 8)
		if l.handshakes.cookieFor(&h, dialerAddr, time.Minute) == genuine {
			t.Errorf("bit %d of the nonce does not matter", bit)
		}
	}
	for bit := range 32 {
		ip := dialerAddr.Addr().As4()
		ip[bit/8] ^= 1 << (bit % 8)
		if l.handshakes.cookieFor(&d.hello, netip.AddrPortFrom(netip.AddrFrom4(ip), dialerAddr.Port()), time.Minute) == genuine {
			t.Errorf("bit %d of the address does not matter", bit)
		}
	}
	for bit := range 16 {
		if l.handshakes.cookieFor(&d.hello, netip.AddrPortFrom(dialerAddr.Addr(), dialerAddr.Port()^1<<bit), time.Minute) == genuine {
			t.Errorf("bit %d of the port does not matter", bit)
		}
	}
}

// A listener that stores maxRecentHellos hellos refuses further dialers until a hello expires.
func TestRecentHellosAreBounded(t *testing.T) {
	l, p := newOfflineListener(t, Options{MaxSessions: maxRecentHellos + 1})
	for i := range maxRecentHellos - 1 {
		l.handshakes.recentHellos[nonce{byte(i), byte(i >> 8), 1}] = acceptedHello{}
	}
	for _, wantFull := range []uint64{0, 1} {
		d, first := newOfflineDialer(t)
		l.handleDatagram(first, dialerAddr, 0)
		l.handleDatagram(helloWithCookie(t, d, p.takeLast()), dialerAddr, 0)
		if b := l.Stats(); b.DroppedBy[full] != wantFull || len(l.handshakes.recentHellos) != maxRecentHellos {
			t.Errorf("%d hellos stored, %d refused; want %d and %d", len(l.handshakes.recentHellos), b.DroppedBy[full], maxRecentHellos, wantFull)
		}
		p.takeLast()
	}
}

// A hello with the same cookie is sent maxCookieHellos times. The next hello has no cookie.
func TestCookieIsGivenUp(t *testing.T) {
	for sent, wantCookie := range map[int]bool{maxCookieHellos - 1: true, maxCookieHellos: false} {
		peer, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(loopback())) // its own: an ended handshake may send once more
		if err != nil {
			t.Fatal(err)
		}
		defer peer.Close()
		_ = peer.SetReadDeadline(time.Now().Add(testTimeout))
		conn, err := net.DialUDP("udp4", nil, peer.LocalAddr().(*net.UDPAddr))
		if err != nil {
			t.Fatal(err)
		}
		d, _ := newOfflineDialer(t)
		d.conn, d.hello.cookie, d.hellosSent = newSocket(conn), cookie{1}, sent
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() { _, err := d.handshake(ctx); ended <- err }()
		b := make([]byte, 2*helloBytes)
		n, err := peer.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		<-ended
		conn.Close()
		if h, ok := parseHello(b[:n], &d.tokenMAC); !ok || (h.cookie != cookie{}) != wantCookie {
			t.Errorf("hello %d has cookie %x (genuine: %v)", sent+1, h.cookie, ok)
		}
	}
}

// A replayed hello creates no second session: not while the first one runs, not after its end,
// and not when the listener has dropped the hello.
func TestReplayedHello(t *testing.T) {
	l, p := newOfflineListener(t, Options{})
	d, first := newOfflineDialer(t)
	l.handleDatagram(first, dialerAddr, 0)
	again := helloWithCookie(t, d, p.takeLast())
	l.handleDatagram(slices.Clone(again), dialerAddr, 0)
	welcome := p.takeLast()
	l.handleDatagram(slices.Clone(again), dialerAddr, time.Second) // the welcome was lost
	if repeated := p.takeLast(); !bytes.Equal(repeated, welcome) || len(l.sessions) != 1 || len(l.accepted) != 0 {
		t.Errorf("a second welcome differs, or %d sessions, %d of them accepted", len(l.sessions), len(l.accepted))
	}
	_, here, err := d.handleAnswer(welcome)
	if err != nil {
		t.Fatal(err)
	}
	out := &outbox{}
	here.onEnd, here.write = func(*Session, error) {}, func(b []byte) error { return out.write(b, dialerAddr) }
	_ = here.send(controlStream, []byte{msgPing})
	l.handleDatagram(out.takeLast(), dialerAddr, time.Second)
	there := <-l.accepted
	p.takeLast()
	for _, when := range []string{"while the session runs", "after its end"} {
		l.handleDatagram(slices.Clone(again), dialerAddr, 2*time.Second)
		if len(p.sent) > 0 || len(l.sessions) > 1 || l.Stats().DroppedBy[Replayed] == 0 {
			t.Errorf("%s: %d answers, %d sessions, %+v", when, len(p.sent), len(l.sessions), l.Stats())
		}
		there.end(errClosed)
		p.takeLast()
	}
	l.handshakes.expire(cookieLifetime + 1) // the cookie has expired
	l.handleDatagram(slices.Clone(again), dialerAddr, cookieLifetime+2)
	if b := l.Stats(); len(p.sent) > 0 || listenerState(l) != [3]int{} || !b.Balanced() {
		t.Errorf("%d answers, state %v", len(p.sent), listenerState(l))
	}
}

// A session that the dialer does not confirm is not returned by Accept and ends after
// confirmTimeout.
func TestUnconfirmedSession(t *testing.T) {
	l, p := newOfflineListener(t, Options{})
	d, first := newOfflineDialer(t)
	l.handleDatagram(first, dialerAddr, 0)
	again := helloWithCookie(t, d, p.takeLast())
	l.handleDatagram(slices.Clone(again), dialerAddr, 0)
	for _, s := range l.sessions {
		s.maintain(confirmTimeout)
		if s.Err() != nil {
			t.Error("the session ended before confirmTimeout")
		}
		s.maintain(confirmTimeout + 1)
	}
	p.takeLast()
	l.handleDatagram(slices.Clone(again), dialerAddr, confirmTimeout+1)
	if len(l.sessions) != 0 || len(l.accepted) != 0 || len(p.sent) > 0 {
		t.Errorf("state %v, %d answers", listenerState(l), len(p.sent))
	}
}

// Forged answers, and answers to other hellos, do not change a dialer.
func TestForgedAnswers(t *testing.T) {
	l, p := newOfflineListener(t, Options{})
	d, first := newOfflineDialer(t)
	l.handleDatagram(first, dialerAddr, 0)
	retry := p.takeLast()
	_, hello := newOfflineDialer(t)
	l.handleDatagram(hello, dialerAddr, 0)
	toOther := p.takeLast()
	refused := func(what string, b []byte) {
		t.Helper()
		was := d.hello
		if v, s, err := d.handleAnswer(slices.Clone(b)); v.class != dropped || s != nil || err != nil || d.hello != was {
			t.Errorf("%s: %+v, %v, %v", what, v, s, err)
		}
	}
	refused("its own hello", first)
	refused("an answer to another hello", toOther)
	for bit := range 8 * len(retry) {
		b := slices.Clone(retry)
		b[bit/8] ^= 1 << (bit % 8)
		refused("a flipped bit", b)
	}
	again := helloWithCookie(t, d, retry)
	refused("the same retry", retry)
	l.handleDatagram(again, dialerAddr, 0)
	welcome := p.takeLast()
	for cut := range len(welcome) {
		refused("truncated", welcome[:cut])
	}
	if _, s, err := d.handleAnswer(welcome); s == nil || err != nil {
		t.Errorf("the genuine welcome: %v", err)
	}
}

// Every session and every direction has its own keys.
func TestKeysAreFresh(t *testing.T) {
	seen := map[string]bool{}
	for range 20 {
		l, p := newOfflineListener(t, Options{})
		here, there, out := handshakeWith(t, l, p, 0)
		here.out.next, there.out.next = 100, 100
		_ = here.Send(1, []byte("the same words"))
		_ = there.Send(1, []byte("the same words"))
		for _, b := range [][]byte{out.takeLast(), p.takeLast()} {
			sealed := string(b[dataHeader:])
			if seen[sealed] {
				t.Fatal("two datagrams with the same ciphertext")
			}
			seen[sealed] = true
		}
	}
}

// The replay window agrees with a set of all received numbers.
func TestWindow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var w window
	came, newest := map[uint32]bool{}, uint32(0)
	for step := range 200_000 {
		seq := newest + uint32(rng.IntN(40))
		switch rng.IntN(20) {
		case 0:
			seq = newest + uint32(rng.IntN(3*windowBits))
		case 1, 2, 3:
			seq = newest - min(newest, uint32(rng.IntN(2*windowBits)))
		}
		want := unseen
		switch {
		case uint64(seq)+windowBits < uint64(newest)+1:
			want = tooOld
		case came[seq]:
			want = duplicate
		}
		if got := w.classify(seq); got != want {
			t.Fatalf("step %d: %d after %d: %v, want %v", step, seq, newest, got, want)
		}
		if want == unseen {
			w.markSeen(seq)
			came[seq], newest = true, max(newest, seq)
		}
	}
	if windowBits < 256 {
		t.Error("windowBits is below 256")
	}
}

// A session ends before a sequence number is used twice.
func TestSequenceExhausted(t *testing.T) {
	l, p := newOfflineListener(t, Options{})
	here, there, out := handshakeWith(t, l, p, 0)
	here.out.next = seqLimit - 1
	if err := here.Send(1, []byte("last")); err != nil {
		t.Fatal(err)
	}
	there.handleDatagram(out.takeLast(), 0)
	if d, ok := there.Poll(nil); !ok || d.Seq != seqLimit-1 {
		t.Errorf("%+v", d)
	}
	for range 2 {
		if err := here.Send(1, nil); err != errExhausted || len(out.sent) > 0 {
			t.Errorf("%v, %d sent", err, len(out.sent))
		}
	}
}

// A genuine datagram from another address is not delivered.
func TestOtherAddress(t *testing.T) {
	l, p := newOfflineListener(t, Options{})
	here, there, out := handshakeWith(t, l, p, 0)
	_ = here.Send(1, []byte("genuine"))
	b := out.takeLast()
	l.handleDatagram(slices.Clone(b), otherAddr, 0)
	if d, ok := there.Poll(nil); ok || l.Stats().DroppedBy[unknownSession] != 1 {
		t.Errorf("%+v, %+v", d, l.Stats())
	}
	l.handleDatagram(b, dialerAddr, 0)
	if _, ok := there.Poll(nil); !ok {
		t.Error("the genuine datagram was not delivered")
	}
}

// A session that ends before the dialer confirms it is not returned by Accept.
func TestConfirmAfterEnd(t *testing.T) {
	l, p := newOfflineListener(t, Options{})
	d, first := newOfflineDialer(t)
	l.handleDatagram(first, dialerAddr, 0)
	l.handleDatagram(helloWithCookie(t, d, p.takeLast()), dialerAddr, 0)
	_, here, err := d.handleAnswer(p.takeLast())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range l.sessions {
		s.end(errIdle)
	}
	out := &outbox{}
	here.onEnd, here.write = func(*Session, error) {}, func(b []byte) error { return out.write(b, dialerAddr) }
	_ = here.send(controlStream, []byte{msgPing})
	l.handleDatagram(out.takeLast(), dialerAddr, 0)
	_ = here.Send(1, []byte("late"))
	l.handleDatagram(out.takeLast(), dialerAddr, 0)
	if b := l.Stats(); len(l.accepted) > 0 || b.DroppedBy[unknownSession] != 1 || b.Control != 1 || !b.Balanced() {
		t.Errorf("%d accepted, %+v", len(l.accepted), b)
	}
}

// A listener on 0.0.0.0 does not include IPv6 addresses.
func TestListenIPv4Only(t *testing.T) {
	token, err := ParseToken(NewToken())
	if err != nil {
		t.Fatal(err)
	}
	l, err := Listen(netip.MustParseAddrPort("0.0.0.0:0"), Options{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if !l.Addr().Addr().Is4() {
		t.Errorf("listens on %s", l.Addr())
	}
}
