package container_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/container"
	"wirelab/internal/testkit"
)

const interval = time.Second / 60

// newSender returns a sender with a policy.
func newSender(t testing.TB, text string) *container.Sender {
	t.Helper()
	p, err := container.Redundancies.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	s := container.NewSender()
	s.SetRedundancy(p)
	return s
}

// The bytes of containers are those of the format in the package's documentation.
func TestFormat(t *testing.T) {
	for policy, want := range map[string]string{ // the containers of "ab", "c" and "def", and their parities
		"repeat n=2": `0000 10 00 6162
			0100 14 00 01 01 0200 6162 63
			0200 14 00 02 01 0100 63 02 0200 6162 646566`,
		"xor data=3": `0000 11 00 0000 00 6162
			0100 11 00 0000 01 63
			0200 11 00 0000 02 646566
			0300 02 00 0000 03 03 00 0300 0000 660766`, // numbers 0^1^2, lengths 2^1^3, a^c^d, b^e, f
	} {
		s := newSender(t, policy)
		var got []string
		for _, packet := range []string{"ab", "c", "def"} {
			got = append(got, fmt.Sprintf("%x", s.Seal(0, interval, []byte(packet), nil).Datagram))
			for _, ok := s.NextParity(); ok; _, ok = s.NextParity() {
				got = append(got, fmt.Sprintf("%x", s.SealParity().Datagram))
			}
		}
		if want := strings.NewReplacer(" ", "", "\t", "").Replace(want); strings.Join(got, "\n") != want {
			t.Errorf("%s: %s, want %s", policy, got, want)
		}
	}
}

// A packet is delivered when its own container arrives, and when the first of those arrives that repeat it, or
// that complete its group: it has as many packets as have arrived with its parities. Parities are sent at even
// distances between the last packet of their group and the next one.
func TestRepairsWhatArrives(t *testing.T) {
	for _, text := range []string{"none", "repeat n=1", "repeat n=8", "xor data=2", "xor data=5", "rs data=2 parity=1", "rs data=4 parity=2",
		"rs data=8 parity=4", "rs data=16 parity=8"} {
		rng := rand.New(rand.NewPCG(3, 3))
		s, path := newSender(t, text), &mail{rng: rng, loss: .2}
		var r container.Receiver
		var order []uint64 // containers with a packet
		packets, messages := map[uint64][]byte{}, map[uint64][]byte{}
		carriers := map[uint64][]uint64{} // containers that have the packet of a container
		groups, groupOf := map[uint64][]uint64{}, map[uint64]uint64{}
		arrived, delivered := map[uint64]bool{}, map[uint64]bool{}
		data, repaired := 99, 0
		count := func(list []uint64) (n int) {
			for _, number := range list {
				if arrived[number] {
					n++
				}
			}
			return n
		}
		for i := range 3000 {
			now := time.Duration(i) * interval
			for _, d := range path.arrived(now) {
				opened, err := r.Open(d)
				number := unwrap(opened.Number, s.Next())
				if err != nil || !bytes.Equal(opened.Messages, messages[number]) {
					t.Fatalf("%s: messages %x, want %x; %v", text, opened.Messages, messages[number], err)
				}
				arrived[number] = true
				var want, got []uint64
				for n := max(number, 40) - 40; n < number+40; n++ {
					isThere := count(carriers[n]) > 0 || count(groups[groupOf[n]]) >= data
					if packets[n] != nil && n != number && !delivered[n] && isThere {
						want = append(want, n)
					}
				}
				repaired += len(want)
				if packets[number] != nil {
					want = append(want, number)
				}
				for _, p := range opened.Packets {
					n := number - uint64(p.Distance)
					isRepeat := p.Repair == container.ByRepeat
					if !bytes.Equal(p.Bytes, packets[n]) || (p.Repair == container.NotRepaired) != (n == number) || isRepeat && data < 99 {
						t.Fatalf("%s: packet %d is %x, repair %v, want %x", text, n, p.Bytes, p.Repair, packets[n])
					}
					got = append(got, n)
					delivered[n] = true
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%s: container %d has packets %v, want %v", text, number, got, want)
				}
			}
			packet, block := append(make([]byte, rng.IntN(60)), byte(i), byte(i>>8)), []byte(nil)
			if i%3 == 0 {
				block = []byte{1, 0, 0, 0, 2, 0, byte(i), 7}
			}
			sealed := s.Seal(now, interval, packet, block)
			packets[sealed.Number], messages[sealed.Number] = packet, block
			order = append(order, sealed.Number)
			for _, n := range order[len(order)-1-sealed.Repeats:] {
				carriers[n] = append(carriers[n], sealed.Number)
			}
			if sealed.InGroup {
				groupOf[sealed.Number], data = sealed.Group, sealed.Data
				groups[sealed.Group] = append(groups[sealed.Group], sealed.Number)
			}
			path.send(now, sealed.Datagram)
			for k := 1; sealed.InGroup && sealed.Index == data-1 && k <= sealed.Parity; k++ {
				at, ok := s.NextParity()
				if want := now + interval*time.Duration(k)/time.Duration(1+sealed.Parity); !ok || at != want {
					t.Fatalf("%s: parity %d is due at %v, %v; want %v", text, k, at, ok, want)
				}
				parity := s.SealParity()
				groups[parity.Group] = append(groups[parity.Group], parity.Number)
				path.send(at, parity.Datagram)
			}
			if _, ok := s.NextParity(); ok {
				t.Fatalf("%s: another parity after packet %d", text, i)
			}
		}
		if (repaired > 50) != (text != "none") || s.Protects() != (text != "none") {
			t.Errorf("%s: %d packets were repaired", text, repaired)
		}
	}
}

// Repeats are left out that do not fit, or are more than 255 containers old.
func TestRepeatsThatFit(t *testing.T) {
	for between, size := range map[int]int{254: 1224, 255: 1224, 0: 1225} {
		s := newSender(t, "repeat n=1")
		s.Seal(0, 0, make([]byte, size), nil)
		for range between {
			s.SealMessages([]byte{0})
		}
		sealed := s.Seal(0, 0, make([]byte, 65507-8-1224), nil)
		if isFull := between == 254; (sealed.Repeats == 1) != isFull || (len(sealed.Datagram) == 65507) != isFull {
			t.Errorf("%d repeats in %d bytes after %d containers", sealed.Repeats, len(sealed.Datagram), between)
		}
	}
}

// A sender that follows another one sends at the same times under the same numbers, and its parities are
// those of its own packets, where those of the other one are empty.
func TestFollow(t *testing.T) {
	first, second := newSender(t, "xor data=4"), container.NewSender()
	for range 6 { // one group, two packets of the next; a parity is pending
		first.Seal(0, interval, []byte("first"), nil)
	}
	second.Follow(first)
	for i := range 4 {
		now := time.Duration(1+i) * interval
		at, ok := first.NextParity()
		if again, isDue := second.NextParity(); at != again || ok != isDue || ok != (i%3 == 0) {
			t.Fatalf("a parity at %v, the follower's at %v", at, again)
		}
		a, b := container.Sealed{}, container.Sealed{}
		if ok {
			a, b = first.SealParity(), second.SealParity()
		} else {
			a, b = first.Seal(now, interval, []byte("first"), nil), second.Seal(now, interval, []byte{0, 0, 0, 0, byte(i)}, nil)
		}
		if a.Number != b.Number || a.Group != b.Group || a.Index != b.Index || len(a.Datagram) != len(b.Datagram) || b.Blank != (i == 0) {
			t.Fatalf("container %+v, the follower's %+v", a, b)
		}
		if got := fmt.Sprintf("%x", b.Datagram[9:]); i == 3 && got != "0f00"+"0000"+"0000000003" { // containers 7 and 8
			t.Errorf("the follower's parity is %s", got)
		}
	}
}

// One forged group costs at most the repairs of the groups in its place, up to 32 groups on, wherever it
// is. Many forged groups cost one more.
func TestForgedGroup(t *testing.T) {
	run := func(forged ...uint16) (repaired int) {
		s := newSender(t, "xor data=2")
		var r container.Receiver
		for i := range 400 {
			d := s.Seal(0, interval, []byte("packet"), nil).Datagram
			if i == 200 {
				for _, id := range forged {
					_, _ = r.Open([]byte{0, 0, 0x11, 0, byte(id), byte(id >> 8), 0, 'x'})
				}
			}
			if i%2 == 0 {
				continue // lost
			}
			_, _ = r.Open(d)
			opened, err := r.Open(s.SealParity().Datagram)
			if err != nil {
				t.Fatal(err)
			}
			repaired += len(opened.Packets)
		}
		return repaired
	}
	for distance := 0; distance < 0xffff; distance += 1 + distance/1000*97 {
		least := 200
		if distance <= 32 {
			least = 196
		}
		if n := run(uint16(100 + distance)); n < least {
			t.Errorf("%d of 200 packets were repaired after group %d ahead", n, distance)
		}
	}
	var all []uint16 // places of groups
	for id := range uint16(16) {
		all = append(all, 23_040+id)
	}
	if n := run(all...); n < 199 {
		t.Errorf("%d of 200 packets were repaired after 16 groups", n)
	}
}

// In steady state neither end allocates.
func TestAllocatesNothing(t *testing.T) {
	for _, text := range []string{"repeat n=2", "xor data=4"} {
		s := newSender(t, text)
		var r container.Receiver
		packet := make([]byte, 400)
		send := func() {
			for i := range 7 {
				if d := s.Seal(0, interval, packet, nil).Datagram; i > 0 {
					_, _ = r.Open(d)
				}
				for _, ok := s.NextParity(); ok; _, ok = s.NextParity() {
					_, _ = r.Open(s.SealParity().Datagram)
				}
			}
		}
		for range 200 {
			send()
		}
		if n := testing.AllocsPerRun(100, send); n > 0 {
			t.Errorf("%s: %g allocations in 7 packets", text, n)
		}
	}
	s, r, ack := container.NewStreamSender(false), container.StreamReceiver{}, []byte(nil)
	send := func() {
		for range 500 {
			s.Write(container.PacketUnit, make([]byte, 400))
			_ = r.Accept(s.Segment(0), func(byte, []byte) {})
			ack = r.AppendAck(ack[:0])
			_ = s.HandleAck(0, ack)
		}
	}
	if n := testkit.Least(0, func() float64 { return testing.AllocsPerRun(1, send) }); n > 0 {
		t.Errorf("stream: %g allocations in 500 segments", n)
	}
}

// checkMalformed checks that a decoder returns ErrMalformed for datagrams in hexadecimal, and nil for those after "+".
func checkMalformed(t *testing.T, name string, decode func([]byte) error, datagrams ...string) {
	t.Helper()
	for i, text := range datagrams {
		isValid := strings.HasPrefix(text, "+")
		b, err := hex.DecodeString(strings.NewReplacer(" ", "", "+", "").Replace(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := decode(b); isValid && err != nil || !isValid && !errors.Is(err, container.ErrMalformed) {
			t.Errorf("%s %d, %s: %v", name, i, text, err)
		}
	}
}

func TestMalformedContainers(t *testing.T) {
	var r container.Receiver
	open := func(b []byte) error {
		_, err := r.Open(b)
		return err
	}
	checkMalformed(t, "container", open, "", "000010", "+0000 10 00", "0000 00 00", "0000 10 01", "0000 20 00", "0000 30 00",
		"0000 11 00 0000", "+0000 11 00 0900 0f aa", "0000 11 00 0900 10 aa", "0000 01 00 0900 01", // group
		"+0000 04 00 08 01 0000 02 0000 03 0000 04 0000 05 0000 06 0000 07 0000 08 0000", "0000 04 00 01 01 0100", "0000 04 00 00 aa",
		"0000 04 00 09 01 0000 02 0000 03 0000 04 0000 05 0000 06 0000 07 0000 08 0000 09 0000", // repeats
		"+0000 08 00 01 000000 0100 aa", "0000 08 00 01 000000 0100", "0000 08 00") // messages
	checkMalformed(t, "parity", open, "+0000 02 00 1000 02 02 01 00000000", "0000 12 00 1100 02 02 01 00000000",
		"0000 02 00 1100 01 01 01 00000000", "+0000 02 00 1100 10 10 08 00000000", "0000 02 00 1200 11 11 01 00000000",
		"0000 02 00 1200 03 02 09 00000000", "0000 02 00 1200 01 02 01 00000000", "0000 02 00 1200 03 02 01 00000000",
		"0000 02 00 1200 02 02 01 000000", "+0000 02 00 1200 02 02 00 00000000", "0000 02 00 1200 03 03 00 00000000", // other codes
		"0000 02 00 1200 02 02 01 00000000", "+0000 02 00 1500 02 02 02 00000000", "0000 02 00 1500 03 02 02 0000000000",
		"0000 11 00 1500 04", "0000 11 00 1500 01 aa", "+0000 11 00 1500 01", // packets of that group
		"+0000 11 00 1300 02 aa", "0000 02 00 1300 02 02 00 0000000000", "0000 02 00 1300 03 03 00 00000000", "+0000 02 00 1300 03 03 00 0000000000",
		"+0000 11 00 1400 00 aa", "0000 02 00 1400 02 02 00 0000030000") // a packet of more bytes than its shard
}
