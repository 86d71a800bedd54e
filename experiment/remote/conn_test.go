package remote

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"wirelab/internal/panics"
	"wirelab/internal/testkit"
)

// A datagram is delivered once and from one address only. Changed, truncated and reflected ones are
// dropped, and so are those of other keys.
func TestSealedDatagrams(t *testing.T) {
	near, end := newStoppedPipe(t, 0)
	var sent []byte
	near.write = func(b []byte) error { sent = bytes.Clone(b); return nil }
	answers := 0
	end.write = func([]byte) error { answers++; return nil }
	if err := near.sendDatagram([]byte("payload")); err != nil || len(sent) != len("payload")+Overhead {
		t.Fatalf("%d bytes, %v", len(sent), err)
	}
	for i := range 8 * len(sent) {
		b := bytes.Clone(sent)
		b[i/8] ^= 1 << (i % 8)
		end.handleDatagram(b, nearAddr, time.Now())
	}
	near.handleDatagram(sent, endAddr, time.Now()) // reflected
	if len(end.datagrams) > 0 || end.peerSocket().IsValid() || near.Stats()[forged] != 1 {
		t.Error("a forged datagram was delivered")
	}
	for range 2 {
		end.handleDatagram(sent, nearAddr, time.Now())
		end.handleDatagram(sent, endAddr, time.Now()) // genuine, from another address
	}
	if x := <-end.datagrams; string(x.data) != "payload" {
		t.Errorf("%+v", x)
	}
	fates := end.Stats()
	if len(end.datagrams) > 0 || fates[delivered] != 1 || fates[replayed] != 1 || fates[stranger] != 2 || fates[forged] != uint64(8*len(sent)) || answers != 0 {
		t.Errorf("%v, %d answers", fates, answers)
	}
	end.purpose = MeasurePurpose
	end.handleDatagram(sent, nearAddr, time.Now())
	if len(end.datagrams) != 1 {
		t.Error("the duplicate was not delivered")
	}
	_ = near.sendDatagram(nil)
	for range 3 {
		end.handleDatagram(sent, nearAddr, time.Now())
	}
	if answers != 1 {
		t.Errorf("%d answers to an empty datagram and two replays", answers)
	}
}

// A session ends before a sequence number is used twice.
func TestSequenceExhausted(t *testing.T) {
	near, _ := newStoppedPipe(t, 0)
	near.out.next = math.MaxUint32
	if err := near.sendDatagram([]byte("last")); err != nil {
		t.Fatal(err)
	}
	if err := near.sendDatagram([]byte("one more")); !errors.Is(err, errExhausted) || !errors.Is(near.Err(), errExhausted) {
		t.Errorf("%v, %v", err, near.Err())
	}
}

// Without a reader, the queues stay within their limits, and the peer cannot make this side block.
func TestQueuesAreBounded(t *testing.T) {
	near, end := newPipe(t, 0)
	for range maxQueuedDatagrams + 5 {
		if err := near.sendDatagram([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if end.Stats()[overrun] != 5 {
		t.Errorf("%v", end.Stats())
	}
	sent := 0
	testkit.WaitFor(t, "a full queue of messages", func() bool {
		for near.send(&message{Session: 1}) {
			sent++
		}
		return len(end.inbox) == cap(end.inbox)
	})
	if sent > 3*maxQueuedMessages {
		t.Errorf("%d messages accepted without a reader", sent)
	}
}

// An identity survives its file, and what is not one is refused.
func TestIdentity(t *testing.T) {
	id, err := NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	other, _ := NewIdentity()
	text, err := id.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseIdentity(text)
	if err != nil || again.token != id.token {
		t.Fatalf("%v", err)
	}
	if token, err := ParseToken(id.Token().String()); err != nil || *token != id.token || *token == other.token {
		t.Errorf("%v", err)
	}
	_, pem, _ := strings.Cut(string(text), "\n")
	for _, bad := range []string{"", "password", id.Token().String(), other.Token().String() + "\n" + pem, pem} {
		if _, err := ParseIdentity([]byte(bad)); err == nil || bad != "" && strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// The listener sends no byte after the TLS handshake until the dialer has proved the token, whatever it
// sends. It closes connections without a proof, and a proof of another connection is useless.
func TestNoByteBeforeProof(t *testing.T) {
	l, id := newTestListener(t, Options{})
	handshake := func() (*tls.Conn, *meteredConn) {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		metered := &meteredConn{Conn: c}
		control := tls.Client(metered, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}})
		if err := control.Handshake(); err != nil {
			t.Fatal(err)
		}
		return control, metered
	}
	first, _ := handshake()
	defer first.Close()
	replayed := append([]byte{byte(SessionPurpose)}, id.Token().proof(first, SessionPurpose)...)
	for name, sent := range map[string][]byte{"zeros": make([]byte, requestBytes), "a proof of another connection": replayed,
		"much": bytes.Repeat([]byte{1}, 1<<16)} {
		control, _ := handshake()
		_, _ = control.Write(sent)
		if n, err := control.Read(make([]byte, 100)); n != 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: read %d bytes, %v", name, n, err)
		}
		_ = control.Close()
	}
	// Records that are no TLS cause an alert usually.
	_, metered := handshake()
	before := metered.bytes.Load()
	junk := bytes.Repeat([]byte{23, 3, 3, 0, 40}, 20)
	_, _ = metered.Write(junk)
	_, _ = io.Copy(io.Discard, metered)
	if got := metered.bytes.Load() - before - int64(len(junk)); got != 0 {
		t.Errorf("%d bytes in answer to junk", got)
	}
	testkit.WaitFor(t, "4 refused connections", func() bool { return l.Stats()["refused"] == 4 })
}

// Dialers with another secret or another certificate get no connection, and those beyond the limit a refusal.
func TestDialRefused(t *testing.T) {
	l, id := newTestListener(t, Options{MaxSessions: 1})
	secret, certificate := *id.Token(), *id.Token()
	secret.secret[3] ^= 1
	certificate.certificate[3] ^= 1
	for want, token := range map[string]*Token{"does not accept the token": &secret, "another certificate": &certificate} {
		_, err := Dial(t.Context(), l.Addr(), token, SessionPurpose)
		if !errors.Is(err, ErrNoAnswer) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, expected %s", err, want)
		}
	}
	near, _ := dialListener(t, l, id, SessionPurpose)
	if _, err := Dial(t.Context(), l.Addr(), id.Token(), SessionPurpose); !errors.Is(err, ErrRefused) {
		t.Errorf("got %v", err)
	}
	_ = near.Close()
	testkit.WaitFor(t, "room for a session", func() bool {
		c, err := Dial(t.Context(), l.Addr(), id.Token(), SessionPurpose)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
}

// A flood of connections that prove nothing, and of junk datagrams, gets no answer, occupies bounded
// memory, and does not keep a dialer out.
func TestFlood(t *testing.T) {
	l, id := newTestListener(t, Options{})
	near, end := dialListener(t, l, id, SessionPurpose)
	junk, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(l.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer junk.Close()
	before := testkit.HeapBytes()
	var open []net.Conn
	for range 2 * maxHandshakes {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		open = append(open, c)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		b := make([]byte, rng.IntN(100))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		if rng.IntN(2) == 0 && len(b) > sealHeaderBytes {
			binary.BigEndian.PutUint32(b, near.out.session)
		}
		_, _ = junk.Write(b)
	}
	second, _ := dialListener(t, l, id, SessionPurpose)
	_ = second.Close()
	l.mu.Lock()
	if len(l.unproven) > maxHandshakes {
		t.Errorf("%d connections in the handshake", len(l.unproven))
	}
	l.mu.Unlock()
	if grown := testkit.HeapBytes() - before; grown > 64<<20 {
		t.Errorf("heap grew by %d bytes", grown)
	}
	_ = open[0].SetReadDeadline(time.Now().Add(time.Minute))
	if n, err := open[0].Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("the oldest connection received %d bytes, %v", n, err)
	}
	_ = junk.SetReadDeadline(time.Now().Add(time.Millisecond))
	if n, err := junk.Read(make([]byte, 1)); err == nil {
		t.Errorf("junk was answered with %d bytes", n)
	}
	testkit.WaitFor(t, "a datagram after the flood", func() bool {
		_ = near.sendDatagram([]byte("x"))
		return string((<-end.datagrams).data) == "x"
	})
}

// Messages and datagrams pass over IPv4 and IPv6, and Close ends both sides.
func TestSockets(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		id, err := NewIdentity()
		if err != nil {
			t.Fatal(err)
		}
		l, err := Listen(netip.MustParseAddrPort(at), id, Options{})
		if err != nil {
			t.Skip(err)
		}
		near, end := dialListener(t, l, id, MeasurePurpose)
		if end.Purpose() != MeasurePurpose || near.Remote() != l.Addr() {
			t.Errorf("purpose %d, remote %v", end.Purpose(), near.Remote())
		}
		end.send(&message{Status: &status{Refused: "why"}})
		want := map[string]bool{"why": true, "datagram": true}
		testkit.WaitFor(t, "a message and a datagram", func() bool {
			_ = end.sendDatagram([]byte("datagram"))
			select {
			case m := <-near.inbox:
				delete(want, m.Status.Refused)
			case x := <-near.datagrams:
				delete(want, string(x.data))
			}
			return len(want) == 0
		})
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		<-near.open.Done()
		if err := near.Err(); !errors.Is(err, io.EOF) {
			t.Errorf("got %v", err)
		}
	}
}

// A connection on which no message arrives ends after the idle time.
func TestIdle(t *testing.T) {
	l, id := newTestListener(t, Options{Idle: 50 * time.Millisecond})
	near, end := dialListener(t, l, id, SessionPurpose)
	<-end.open.Done()
	<-near.open.Done()
	if err := end.Err(); !strings.Contains(err.Error(), "nothing from the peer for 50ms") {
		t.Errorf("got %v", err)
	}
}

// No data from a peer with the token make the reader of messages panic.
func FuzzMessage(f *testing.F) {
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		a, b := net.Pipe()
		c := newConn(t.Context(), a, &meteredConn{}, make([]byte, keyMaterial), SessionPurpose, true)
		c.start(time.Minute)
		go func() {
			_, _ = b.Write(data)
			_ = b.Close()
		}()
		<-c.open.Done()
		if err := c.Err(); errors.As(err, new(*panics.Error)) {
			t.Error(fmt.Errorf("%x: %w", data, err))
		}
		_ = c.Close()
	})
}
