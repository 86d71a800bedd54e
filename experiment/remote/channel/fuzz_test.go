package channel

import (
	"bytes"
	"slices"
	"testing"
	"time"
)

// No single datagram makes a listener store anything, or answer with more bytes than it received.
func FuzzListener(f *testing.F) {
	l, p := newOfflineListener(f, Options{})
	_, first := newOfflineDialer(f)
	f.Add(first)
	f.Add([]byte{firstByte(kindData), 1, 2, 3, 4})
	f.Add(bytes.Repeat([]byte{firstByte(kindHello)}, helloBytes))
	f.Fuzz(func(t *testing.T, b []byte) {
		l.handleDatagram(slices.Clone(b), dialerAddr, time.Second)
		_, authentic := parseHello(b, &l.handshakes.tokenMAC) // only the first seed is authentic
		if answer := p.takeLast(); len(answer) > len(b) || answer != nil && !authentic {
			t.Fatalf("%d bytes answered by %d", len(b), len(answer))
		}
		if books := l.Stats(); listenerState(l) != [3]int{} || !books.Balanced() {
			t.Fatalf("state %v, %+v", listenerState(l), books)
		}
	})
}

// Handshake datagrams with a valid MAC and arbitrary contents cause no panic and no session.
func FuzzSigned(f *testing.F) {
	f.Add([]byte{1, 2, 3}, true)
	f.Add(make([]byte, helloBytes-macBytes), true)
	f.Add([]byte{firstByte(kindWelcome)}, false)
	f.Fuzz(func(t *testing.T, body []byte, toListener bool) {
		l, p := newOfflineListener(t, Options{MaxSessions: 1})
		d, _ := newOfflineDialer(t)
		b := d.tokenMAC.sign(slices.Clone(body))
		if toListener {
			l.handleDatagram(slices.Clone(b), dialerAddr, time.Second)
			if answer := p.takeLast(); len(answer) > len(b) || listenerState(l) != [3]int{} {
				t.Fatalf("state %v, answered by %d bytes", listenerState(l), len(answer))
			}
			return
		}
		v, s, _ := d.handleAnswer(slices.Clone(b))
		if a, ok := parseAnswer(b, &d.tokenMAC); ok {
			if back := a.append(nil, &d.tokenMAC); !bytes.Equal(back, b) && a.kind == b[0]&0xf && b[0]>>4 == version {
				t.Fatalf("%x parsed as %+v, encoded as %x", b, a, back)
			}
		} else if v.class != dropped || s != nil {
			t.Fatalf("%+v", v)
		}
	})
}

// Only datagrams encrypted for a session are delivered, and only once.
func FuzzSession(f *testing.F) {
	l, p := newOfflineListener(f, Options{})
	here, there, out := handshakeWith(f, l, p, 0)
	_ = here.Send(1, []byte("genuine"))
	genuine := out.takeLast()
	there.handleDatagram(slices.Clone(genuine), 0)
	there.Poll(nil)
	f.Add(genuine)
	f.Add(genuine[:Overhead])
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, s := range []*Session{here, there} {
			was := s.Stats()
			if v, first := s.handleDatagram(slices.Clone(b), 0); v.class != dropped || first {
				t.Fatalf("%+v", v)
			}
			s.route(slices.Clone(b), 0)
			now := s.Stats()
			if _, ok := s.Poll(nil); ok || !now.Balanced() || now.Dropped() != was.Dropped()+2 || s.Err() != nil {
				t.Fatalf("%+v", now)
			}
		}
	})
}

// The queue behaves like a list of limited size.
func FuzzQueue(f *testing.F) {
	f.Add([]byte{9, 1, 200, 0, 255, 0, 0, 3})
	f.Add([]byte{132, 132, 1, 0, 133, 132}) // two entries of 150 bytes fill the ring
	f.Fuzz(func(t *testing.T, steps []byte) {
		q := queue{ring: make([]byte, 300)}
		var list []Datagram
		used := 0
		for i, n := range steps {
			if n == 0 {
				d, at, ok := q.pop(nil)
				if ok != (len(list) > 0) {
					t.Fatal("queue and list differ in length")
				}
				if !ok {
					continue
				}
				if want := list[0]; !bytes.Equal(d.Data, want.Data) || d.Seq != want.Seq || d.Stream != want.Stream || d.Duplicate != want.Duplicate ||
					at != time.Duration(want.Seq) {
					t.Fatalf("%+v, want %+v", d, want)
				}
				used -= entryBytes + len(d.Data)
				list = list[1:]
				continue
			}
			d := Datagram{Stream: n, Data: bytes.Repeat([]byte{n}, int(n)), Seq: uint32(i), Duplicate: n%2 == 0}
			if fits := used+entryBytes+len(d.Data) <= 300; q.push(&d, time.Duration(i)) != fits {
				t.Fatal("queue and list differ in free space")
			} else if fits {
				list, used = append(list, d), used+entryBytes+len(d.Data)
			}
		}
	})
}
