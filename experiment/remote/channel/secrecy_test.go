package channel

import (
	"bytes"
	"slices"
	"testing"

	"github.com/flynn/noise"
)

// An attacker who recorded a session and then learns the token cannot decrypt any of its datagrams.
func TestForwardSecrecy(t *testing.T) {
	l, p := newOfflineListener(t, Options{})
	d, first := newOfflineDialer(t)
	l.handleDatagram(first, dialerAddr, 0)
	hello := helloWithCookie(t, d, p.takeLast())
	l.handleDatagram(slices.Clone(hello), dialerAddr, 0)
	welcome := p.takeLast()
	_, here, err := d.handleAnswer(slices.Clone(welcome))
	if err != nil {
		t.Fatal(err)
	}
	out := &outbox{}
	here.onEnd, here.write = func(*Session, error) {}, func(b []byte) error { return out.write(b, dialerAddr) }
	_ = here.send(controlStream, []byte{msgPing})
	_ = here.Send(1, []byte("secret"))
	for _, b := range out.sent {
		l.handleDatagram(slices.Clone(b), dialerAddr, 0)
	}
	there := <-l.accepted
	_ = there.Send(1, []byte("answer"))
	recorded := append(out.sent, p.sent...)
	if len(recorded) != 4 { // ping, secret, pong, answer
		t.Fatalf("%d datagrams recorded, expected 4", len(recorded))
	}
	// decrypted returns how many of the recorded datagrams a cipher opens.
	decrypted := func(g gcm) (n int) {
		for _, b := range recorded {
			if _, _, _, err := g.open(slices.Clone(b)); err == nil {
				n++
			}
		}
		return n
	}
	if n := decrypted(here.out.gcm) + decrypted(here.in.gcm); n != len(recorded) {
		t.Fatalf("the keys of the session decrypt %d of %d datagrams", n, len(recorded))
	}

	learnt := token(t, secret)
	mac := learnt.handshakeMAC()
	h, ok := parseHello(hello, &mac)
	if !ok {
		t.Fatal("the token does not verify the recorded hello")
	}
	a, ok := parseAnswer(welcome, &mac)
	if !ok {
		t.Fatal("the token does not verify the recorded welcome")
	}
	attempt := func(what string, key [32]byte) {
		t.Helper()
		if n := decrypted(newGCM(key)); n > 0 {
			t.Errorf("%s: %d datagrams decrypted", what, n)
		}
	}
	// Complete the recorded opening as a listener with a new ephemeral key.
	_, keys, err := learnt.answerOpening(h.opening, h.purpose, here.number)
	if err != nil {
		t.Fatal("the token does not read the recorded opening: ", err)
	}
	attempt("as listener, to the listener", keys.fromDialer)
	attempt("as listener, to the dialer", keys.fromListener)
	// Read the recorded reply as a dialer with a new ephemeral key.
	state, _ := learnt.newOpening(h.purpose)
	if keys, err := readReply(state, a.reply); err == nil {
		t.Errorf("a dialer with another ephemeral key reads the reply: %+v", keys)
	}
}

// Data datagrams are transport messages of Noise, as the library makes them.
func TestTransportOfNoise(t *testing.T) {
	key := [32]byte{1, 2, 3}
	g, library := newGCM(key), noise.CipherAESGCM.Cipher(key)
	for _, seq := range []uint32{0, 1, 1 << 31, seqLimit - 1} {
		b := g.seal(nil, 77, seq, 5, []byte("payload"))
		want := library.Encrypt(nil, uint64(seq), b[:dataHeader], append([]byte{5}, "payload"...))
		if !bytes.Equal(b[dataHeader:], want) {
			t.Errorf("sequence %d: %x, the library has %x", seq, b[dataHeader:], want)
		}
	}
}

// An opening is refused if its purpose or its token differs, or if a bit is flipped.
func TestForgedOpenings(t *testing.T) {
	right := token(t, secret)
	_, good := right.newOpening(7)
	if _, _, err := right.answerOpening(good, 7, 1); err != nil {
		t.Fatal(err)
	}
	if _, _, err := right.answerOpening(good, 8, 1); err == nil {
		t.Error("another purpose was accepted")
	}
	other := token(t, NewToken())
	if _, _, err := other.answerOpening(good, 7, 1); err == nil {
		t.Error("another token was accepted")
	}
	for bit := range 8 * openingBytes {
		forged := good
		forged[bit/8] ^= 1 << (bit % 8)
		if _, _, err := right.answerOpening(forged, 7, 1); err == nil {
			t.Errorf("bit %d flipped: accepted", bit)
		}
	}
}
