package capture

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// read parses a capture.
func read(t *testing.T, text string) *Capture {
	t.Helper()
	c, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const us = time.Microsecond

// Read accepts all documented forms of captures.
func TestReadForms(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []Packet
	}{
		"plain": {"seq,send_us,recv_us,copy\n4,0.5,10.25,0\n5,1000,lost,\n", []Packet{
			{Seq: 4, Sent: 500, Took: 9750}, {Seq: 5, Sent: 1000 * us, Lost: true}}},
		"columns in another order, others between": {"bad,copy,recv_us,name,send_us,seq\n0,1,9,x,4,7\n", []Packet{
			{Seq: 7, Copy: 1, Sent: 4 * us, Took: 5 * us}}},
		"delays, a byte order mark, CRLF": {"\ufeffdelay_us\r\n50.0\r\nlost\r\n", []Packet{{Took: 50 * us}, {Seq: 1, Lost: true}}},
		"losses alone":                    {"lost\n0\n1\nno\ntrue\n", []Packet{{}, {Seq: 1, Lost: true}, {Seq: 2}, {Seq: 3, Lost: true}}},
		"clocks that differ":              {"seq,send_us,recv_us\n0,5000,1.001\n", []Packet{{Sent: 5000 * us, Took: 1001 - 5000*us}}},
		"since 1970": {"seq,send_us,recv_us\n0,1767225600000000,1767225600050000.5\n",
			[]Packet{{Sent: 1767225600000000 * us, Took: 50000*us + 500}}},
		"short rows and comments": {"seq,send_us,recv_us,copy\n# a remark\n0,1,2\n", []Packet{{Sent: us, Took: us}}},
	} {
		if got := read(t, c.text).Packets; !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// The packets.csv of an experiment is a capture; packets in flight at the end are ignored.
func TestReadExperiment(t *testing.T) {
	c := read(t, "seq,copy,send_us,recv_us,outcome,cause,encoder\n"+
		"0,0,100000.000,150000.000,decoded,,raw\n1,0,116666.667,lost,lost,burst,raw\n2,0,133333.333,,in_flight,,raw\n")
	if len(c.Packets) != 2 || c.Unfinished != 1 || !c.Packets[1].Lost || c.Packets[0].Took != 50_000*us {
		t.Errorf("%+v", c)
	}
}

// Read refuses invalid files with a reason.
func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]struct {
		err  error
		text string
	}{
		"":                                      {errEmpty, "a header"},
		"seq,send_us,recv_us\n":                 {errEmpty, "at least one"},
		"seq,send_us,recv_us\n0,1,\n":           {errEmpty, "at least one"},
		"seq,send_us\n0,1\n":                    {ErrColumns, "recv_us, delay_us or lost"},
		"seq,recv_us\n0,1\n":                    {ErrColumns, "requires send_us"},
		"seq,send_us,recv_us\n0,1,2\nx,1,2\n":   {errRow, "line 3: seq"},
		"seq,send_us,recv_us\n-1,1,2\n":         {errRow, "seq"},
		"seq,send_us,recv_us\n0,lost,2\n":       {errRow, "send_us"},
		"seq,send_us,recv_us\n0,1,1e5\n":        {errRow, "recv_us"},
		"seq,send_us,recv_us\n0,1,.\n":          {errRow, "recv_us"},
		"seq,send_us,recv_us\n0,1,NaN\n":        {errRow, "recv_us"},
		"delay_us\n99999999999999999999\n":      {errRow, "delay_us"},
		"delay_us\n9999999999999999\n":          {errRow, "delay_us"},
		"lost\nmaybe\n":                         {errRow, "expected 1 or 0"},
		"delay_us,copy\n1,-1\n":                 {errRow, "copy"},
		"delay_us,copy\n1,99999999\n":           {errRow, "copy"},
		"seq,send_us,recv_us\n0,\"1\nx,2,3\n\n": {errRow, ""},
	} {
		_, err := Read(strings.NewReader(text))
		if !errors.Is(err, want.err) || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%q: %v, want %v with %q", text, err, want.err, want.text)
		}
	}
}

// Read returns the packets that Write wrote.
func TestWriteRead(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	want := make([]Packet, 500)
	for i := range want {
		want[i] = Packet{Seq: uint64(i), Sent: time.Duration(rng.Int64N(1e12)), Took: time.Duration(rng.Int64N(2e9) - 1e8)}
		if rng.IntN(4) == 0 {
			want[i].Took, want[i].Lost = 0, true
		}
		if rng.IntN(4) == 0 {
			want[i].Copy = rng.IntN(5)
		}
	}
	var b bytes.Buffer
	if err := Write(&b, slices.Values(want)); err != nil {
		t.Fatal(err)
	}
	if got := read(t, b.String()).Packets; !slices.Equal(got, want) {
		t.Error("the packets read differ from those written")
	}
}

// A sequence is complete for any order of rows and with missing numbers.
func TestSequence(t *testing.T) {
	s, err := read(t, "seq,send_us,recv_us,copy\n9,900,990,0\n"+
		"3,300,350,1\n3,300,340,0\n5,500,lost,\n6,600,lost,0\n6,600,699,1\n9,900,991,0\n").Sequence()
	if err != nil {
		t.Fatal(err)
	}
	if s.Missing != 3 || s.Repeated != 1 || len(s.Datagrams) != 7 {
		t.Fatalf("%+v", s)
	}
	for i, want := range []Datagram{
		{Seq: 3, Sent: 300 * us, Took: 40 * us, Copies: []time.Duration{50 * us}},
		{Seq: 4, Sent: 400 * us, Lost: true, Missing: true},
		{Seq: 5, Sent: 500 * us, Lost: true},
		{Seq: 6, Sent: 600 * us, Lost: true, Copies: []time.Duration{99 * us}},
		{Seq: 7, Sent: 700 * us, Lost: true, Missing: true},
		{Seq: 8, Sent: 800 * us, Lost: true, Missing: true},
		{Seq: 9, Sent: 900 * us, Took: 90 * us, Copies: []time.Duration{91 * us}},
	} {
		if got := s.Datagrams[i]; got.Seq != want.Seq || got.Sent != want.Sent || got.Lost != want.Lost ||
			got.Missing != want.Missing || got.Took != want.Took || !slices.Equal(got.Copies, want.Copies) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if _, err := read(t, "seq,send_us,recv_us\n0,1,2\n123456,3,4\n").Sequence(); !errors.Is(err, ErrSequence) {
		t.Errorf("numbers far apart: %v", err)
	}
}

// Match counts every datagram exactly once and assigns every arrival at most once.
func FuzzMatch(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(40), uint8(50), int64(1e6))
	f.Add(uint64(2), uint8(1), uint8(200), uint8(250), int64(5e9))
	f.Fuzz(func(t *testing.T, seed uint64, kinds, sent, received uint8, spread int64) {
		rng := rand.New(rand.NewPCG(seed, 1))
		list := func(n uint8) (out []Sighting) {
			for range n {
				out = append(out, Sighting{At: time.Duration(rng.Uint64N(uint64(spread)&(1<<50) | 1)), Data: []byte{byte(rng.IntN(int(kinds) + 1))}})
			}
			slices.SortFunc(out, func(a, b Sighting) int { return int(min(1, max(-1, a.At-b.At))) })
			return out
		}
		a, b := list(sent), list(received)
		c, m, err := Match(a, b, time.Duration(rng.Int64N(1<<40)), time.Duration(rng.Int64N(1<<50)))
		if err != nil {
			if !errors.Is(err, ErrNoMatch) {
				t.Fatal(err)
			}
			return
		}
		if m.Matched+m.Lost+m.Outside != len(a) || m.Matched+m.Copies+m.Unmatched != len(b) {
			t.Fatalf("%+v of %d sent, %d received", m, len(a), len(b))
		}
		arrived := map[time.Duration]int{}
		for _, s := range b {
			arrived[s.At]++
		}
		for _, p := range c.Packets {
			if p.Lost {
				continue
			}
			if arrived[p.Arrived()]--; arrived[p.Arrived()] < 0 {
				t.Fatalf("%+v: assigned more often than received", p)
			}
		}
	})
}
