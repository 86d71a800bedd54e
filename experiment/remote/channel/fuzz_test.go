package channel

import (
	"bytes"
	"slices"
	"testing"
	"time"
)

// FuzzListener: no datagram makes a listener without sessions keep anything, or answer
// with more than it got.
func FuzzListener(f *testing.F) {
	l, p := offline(f, Options{})
	_, first := dialing(f)
	f.Add(first)
	f.Add([]byte{head(kindData), 1, 2, 3, 4})
	f.Add(bytes.Repeat([]byte{head(kindHello)}, helloBytes))
	f.Fuzz(func(t *testing.T, b []byte) {
		l.take(slices.Clone(b), home, time.Second)
		_, authentic := parseHello(b, &l.door.token) // the seed is: nothing else can be
		if answer := p.last(); len(answer) > len(b) || answer != nil && !authentic {
			t.Fatalf("%d bytes answered by %d", len(b), len(answer))
		}
		if books := l.Books(); state(l) != [3]int{} || !books.Balanced() {
			t.Fatalf("state %v, %+v", state(l), books)
		}
	})
}

// FuzzSigned: whoever has the token may say anything in a hello, or in an answer.
func FuzzSigned(f *testing.F) {
	f.Add([]byte{1, 2, 3}, true)
	f.Add(make([]byte, helloBytes-macBytes), true)
	f.Add([]byte{head(kindWelcome)}, false)
	f.Fuzz(func(t *testing.T, body []byte, toListener bool) {
		l, p := offline(t, Options{MaxSessions: 1})
		d, _ := dialing(t)
		b := d.token.sign(slices.Clone(body))
		if toListener {
			l.take(slices.Clone(b), home, time.Second)
			if answer := p.last(); len(answer) > len(b) || state(l) != [3]int{} {
				t.Fatalf("state %v, answered by %d bytes", state(l), len(answer))
			}
			return
		}
		v, s, _ := d.take(slices.Clone(b))
		if a, ok := parseAnswer(b, &d.token); ok {
			if back := a.append(nil, &d.token); !bytes.Equal(back, b) && a.kind == b[0]&0xf && b[0]>>4 == version {
				t.Fatalf("%x read as %+v, written as %x", b, a, back)
			}
		} else if v.class != dropped || s != nil {
			t.Fatalf("%+v", v)
		}
	})
}

// FuzzSession: nothing but what was sealed for it gets into a session, and it does once.
func FuzzSession(f *testing.F) {
	l, p := offline(f, Options{})
	here, there, out := handshakeWith(f, l, p, 0)
	_ = here.Send(1, []byte("genuine"))
	genuine := out.last()
	there.take(slices.Clone(genuine), 0)
	there.Poll(nil)
	f.Add(genuine)
	f.Add(genuine[:Overhead])
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, s := range []*Session{here, there} {
			was := s.Books()
			if v, first := s.take(slices.Clone(b), 0); v.class != dropped || first {
				t.Fatalf("%+v", v)
			}
			s.sort(slices.Clone(b), 0)
			now := s.Books()
			if _, ok := s.Poll(nil); ok || !now.Balanced() || now.Dropped() != was.Dropped()+2 || s.Err() != nil {
				t.Fatalf("%+v", now)
			}
		}
	})
}

// FuzzQueue holds the ring to a list.
func FuzzQueue(f *testing.F) {
	f.Add([]byte{9, 1, 200, 0, 255, 0, 0, 3})
	f.Fuzz(func(t *testing.T, steps []byte) {
		q := queue{ring: make([]byte, 300)}
		var list []Datagram
		used := 0
		for i, n := range steps {
			if n == 0 {
				d, at, ok := q.get(nil)
				if ok != (len(list) > 0) {
					t.Fatal("the ring and the list disagree")
				}
				if !ok {
					continue
				}
				if want := list[0]; !bytes.Equal(d.Data, want.Data) || d.Seq != want.Seq || d.Stream != want.Stream || d.Again != want.Again ||
					at != time.Duration(want.Seq) {
					t.Fatalf("%+v, want %+v", d, want)
				}
				used -= entryBytes + len(d.Data)
				list = list[1:]
				continue
			}
			d := Datagram{Stream: n, Data: bytes.Repeat([]byte{n}, int(n)), Seq: uint32(i), Again: n%2 == 0}
			if fits := used+entryBytes+len(d.Data) <= 300; q.put(&d, time.Duration(i)) != fits {
				t.Fatal("the ring and the list disagree on room")
			} else if fits {
				list, used = append(list, d), used+entryBytes+len(d.Data)
			}
		}
	})
}
