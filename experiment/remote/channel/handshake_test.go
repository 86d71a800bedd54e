package channel

import (
	"bytes"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"
)

// state is all that a listener keeps beside its books.
func state(l *Listener) [3]int { return [3]int{len(l.sessions), len(l.door.greeted), len(l.accepted)} }

// A hello that shows no cookie is answered by less than itself, and leaves nothing.
func TestFloodOfHellosLeavesNothing(t *testing.T) {
	l, p := offline(t, Options{})
	sent, got := 0, 0
	for range 2000 {
		_, b := dialing(t)
		l.take(b, home, time.Second)
		sent, got = sent+len(b), got+len(p.last())
	}
	if b := l.Books(); state(l) != [3]int{} || b.Handshake != 2000 || !b.Balanced() {
		t.Errorf("state %v, %+v", state(l), b)
	}
	if 3*got > sent {
		t.Errorf("%d bytes were answered by %d", sent, got)
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

// Whoever lacks the token, changes one bit or cuts something off hears nothing.
func TestForgedHellos(t *testing.T) {
	l, p := offline(t, Options{})
	d, first := dialing(t)
	l.take(first, home, 0)
	again := second(t, d, p.last())
	n := uint64(0)
	for _, b := range [][]byte{first, again} {
		for bit := range 8 * len(b) {
			forged := slices.Clone(b)
			forged[bit/8] ^= 1 << (bit % 8)
			l.take(forged, home, 0)
			n++
		}
		for cut := range len(b) {
			l.take(slices.Clone(b[:cut]), home, 0)
			n++
		}
		l.take(append(slices.Clone(b), 0), home, 0)
		n++
	}
	if b := l.Books(); len(p.sent) > 0 || state(l) != [3]int{} || b.Dropped() != n || !b.Balanced() {
		t.Errorf("%d answers, state %v, %+v after %d", len(p.sent), state(l), b, n)
	}
}

// A cookie is good for one address, one nonce, one purpose, one listener and some time.
func TestCookies(t *testing.T) {
	l, p := offline(t, Options{})
	d, first := dialing(t)
	l.take(first, home, time.Minute)
	retry := p.last()
	again := second(t, d, retry)
	reject := func(what string, cause cause, b []byte, do func(b []byte)) {
		t.Helper()
		was := l.Books()
		do(slices.Clone(b))
		if now := l.Books(); now.By[cause] != was.By[cause]+1 || len(p.sent) > 0 || state(l) != [3]int{} {
			t.Errorf("%s: state %v, %d answers, %+v", what, state(l), len(p.sent), now)
		}
	}
	reject("another address", Forged, again, func(b []byte) { l.take(b, other, time.Minute) })
	stolen, _ := dialing(t)
	stolen.hello.cookie = d.hello.cookie
	reject("another nonce", Forged, stolen.hello.append(nil, &d.token), func(b []byte) { l.take(b, home, time.Minute) })
	changed := d.hello
	changed.purpose++
	reject("another purpose", Forged, changed.append(nil, &d.token), func(b []byte) { l.take(b, home, time.Minute) })
	reject("too late", expired, again, func(b []byte) { l.take(b, home, time.Minute+cookieLife+1) })
	reject("before it was made", expired, again, func(b []byte) { l.take(b, home, time.Minute-1) })
	restarted, _ := offline(t, Options{})
	restarted.take(slices.Clone(again), home, time.Minute)
	if b := restarted.Books(); b.By[Forged] != 1 || state(restarted) != [3]int{} {
		t.Errorf("another listener: %+v", b)
	}
	l.take(again, home, time.Minute)
	if state(l) != [3]int{1, 1, 0} {
		t.Errorf("the real one: %v", state(l))
	}
}

// A recorded hello makes no second session: not while its own lives, not after, and not
// after its listener began anew.
func TestReplayedHello(t *testing.T) {
	l, p := offline(t, Options{})
	d, first := dialing(t)
	l.take(first, home, 0)
	again := second(t, d, p.last())
	l.take(slices.Clone(again), home, 0)
	welcome := p.last()
	l.take(slices.Clone(again), home, time.Second) // the dialer did not hear it
	if repeated := p.last(); !bytes.Equal(repeated, welcome) || len(l.sessions) != 1 || len(l.accepted) != 0 {
		t.Errorf("a second welcome differs, or %d sessions, %d of them accepted", len(l.sessions), len(l.accepted))
	}
	_, here, err := d.take(welcome)
	if err != nil {
		t.Fatal(err)
	}
	out := &post{}
	here.leave, here.write = func(*Session, error) {}, func(b []byte) error { return out.write(b, home) }
	_ = here.send(controlStream, []byte{sayPing})
	l.take(out.last(), home, time.Second)
	there := <-l.accepted
	p.last()
	for _, when := range []string{"while it lives", "after its end"} {
		l.take(slices.Clone(again), home, 2*time.Second)
		if len(p.sent) > 0 || len(l.sessions) > 1 || l.Books().By[Replayed] == 0 {
			t.Errorf("%s: %d answers, %d sessions, %+v", when, len(p.sent), len(l.sessions), l.Books())
		}
		there.finish(errClosed)
		p.last()
	}
	l.door.forget(cookieLife + 1) // by now the cookie is worth nothing
	l.take(slices.Clone(again), home, cookieLife+2)
	if b := l.Books(); len(p.sent) > 0 || state(l) != [3]int{} || !b.Balanced() {
		t.Errorf("%d answers, state %v", len(p.sent), state(l))
	}
}

// A session that its dialer never confirms is not handed out, and ends soon.
func TestUnconfirmed(t *testing.T) {
	l, p := offline(t, Options{})
	d, first := dialing(t)
	l.take(first, home, 0)
	again := second(t, d, p.last())
	l.take(slices.Clone(again), home, 0)
	for _, s := range l.sessions {
		s.tend(confirmWithin)
		if s.Err() != nil {
			t.Error("over too early")
		}
		s.tend(confirmWithin + 1)
	}
	p.last()
	l.take(slices.Clone(again), home, confirmWithin+1)
	if len(l.sessions) != 0 || len(l.accepted) != 0 || len(p.sent) > 0 {
		t.Errorf("state %v, %d answers", state(l), len(p.sent))
	}
}

// What a dialer hears of others than its listener changes nothing.
func TestForgedAnswers(t *testing.T) {
	l, p := offline(t, Options{})
	d, first := dialing(t)
	l.take(first, home, 0)
	retry := p.last()
	stranger, hello := dialing(t)
	l.take(hello, home, 0)
	toOther := p.last()
	_ = stranger
	refused := func(what string, b []byte) {
		t.Helper()
		was := d.hello
		if v, s, err := d.take(slices.Clone(b)); v.class != dropped || s != nil || err != nil || d.hello != was {
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
	again := second(t, d, retry)
	refused("the same retry", retry)
	l.take(again, home, 0)
	welcome := p.last()
	for cut := range len(welcome) {
		refused("cut off", welcome[:cut])
	}
	if _, s, err := d.take(welcome); s == nil || err != nil {
		t.Errorf("the welcome itself: %v", err)
	}
}

// Keys are new in each session, and each direction has its own.
func TestKeysAreFresh(t *testing.T) {
	seen := map[string]bool{}
	for range 20 {
		l, p := offline(t, Options{})
		here, there, out := handshakeWith(t, l, p, 0)
		here.out.next, there.out.next = 100, 100
		_ = here.Send(1, []byte("the same words"))
		_ = there.Send(1, []byte("the same words"))
		for _, b := range [][]byte{out.last(), p.last()} {
			sealed := string(b[dataHeader:])
			if seen[sealed] {
				t.Fatal("two datagrams are encrypted alike")
			}
			seen[sealed] = true
		}
	}
}

// TestWindow holds the window to a set that forgets nothing.
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
		want := fresh
		switch {
		case uint64(seq)+windowBits < uint64(newest)+1:
			want = tooOld
		case came[seq]:
			want = again
		}
		if got := w.judge(seq); got != want {
			t.Fatalf("step %d: %d after %d: %v, want %v", step, seq, newest, got, want)
		}
		if want == fresh {
			w.note(seq)
			came[seq], newest = true, max(newest, seq)
		}
	}
	if windowBits < 256 {
		t.Error("a window of fewer than 256 numbers")
	}
}

// A session ends before a sequence number comes twice.
func TestWorn(t *testing.T) {
	l, p := offline(t, Options{})
	here, there, out := handshakeWith(t, l, p, 0)
	here.out.next = lastSequence - 1
	if err := here.Send(1, []byte("last")); err != nil {
		t.Fatal(err)
	}
	there.take(out.last(), 0)
	if d, ok := there.Poll(nil); !ok || d.Seq != lastSequence-1 {
		t.Errorf("%+v", d)
	}
	for range 2 {
		if err := here.Send(1, nil); err != errWorn || len(out.sent) > 0 {
			t.Errorf("%v, %d sent", err, len(out.sent))
		}
	}
}

// A session hears nobody at another address, even if he has what was sent to it.
func TestAnotherAddress(t *testing.T) {
	l, p := offline(t, Options{})
	here, there, out := handshakeWith(t, l, p, 0)
	_ = here.Send(1, []byte("genuine"))
	b := out.last()
	l.take(slices.Clone(b), other, 0)
	if d, ok := there.Poll(nil); ok || l.Books().By[stranger] != 1 {
		t.Errorf("%+v, %+v", d, l.Books())
	}
	l.take(b, home, 0)
	if _, ok := there.Poll(nil); !ok {
		t.Error("the real one no longer comes")
	}
}

// A session that is over before its dialer is heard is not handed out afterwards.
func TestConfirmedTooLate(t *testing.T) {
	l, p := offline(t, Options{})
	d, first := dialing(t)
	l.take(first, home, 0)
	l.take(second(t, d, p.last()), home, 0)
	_, here, err := d.take(p.last())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range l.sessions {
		s.finish(errIdle)
	}
	out := &post{}
	here.leave, here.write = func(*Session, error) {}, func(b []byte) error { return out.write(b, home) }
	_ = here.send(controlStream, []byte{sayPing})
	l.take(out.last(), home, 0)
	_ = here.Send(1, []byte("late"))
	l.take(out.last(), home, 0)
	if b := l.Books(); len(l.accepted) > 0 || b.By[stranger] != 1 || b.Control != 1 || !b.Balanced() {
		t.Errorf("%d accepted, %+v", len(l.accepted), b)
	}
}

// 0.0.0.0 is all addresses of IPv4, and none of IPv6.
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
