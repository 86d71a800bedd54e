package measure

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"wirelab/lossmodel"
	"wirelab/lossmodel/capture"
)

// captureInOrder returns a capture of n packets that arrive in the given order of their numbers,
// 1 ms apart. Packets that are not in order are lost.
func captureInOrder(t *testing.T, n int, order ...int) *capture.Sequence {
	t.Helper()
	c := &capture.Capture{HasSent: true, HasDelay: true}
	for i := range n {
		p := capture.Packet{Seq: uint64(i), Sent: time.Duration(i), Lost: true}
		if at := slices.Index(order, i); at >= 0 {
			p.Lost, p.Took = false, time.Duration(at)*time.Millisecond-p.Sent
		}
		c.Packets = append(c.Packets, p)
	}
	s, err := c.Sequence()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The worked example of RFC 4737, section 3.4 (packets 4 and 5 late), further examples, and
// densities as in RFC 5236, section 4.
func TestReorderingExamples(t *testing.T) {
	for _, c := range []struct {
		n         int
		order     []int
		reordered int
		extent    int
		density   map[int]float64
	}{
		{5, []int{0, 1, 2, 3, 4}, 0, 0, map[int]float64{0: 1}},
		{9, []int{0, 1, 2, 5, 6, 7, 3, 4, 8}, 2, 4, map[int]float64{0: 4. / 9, -2: 3. / 9, 3: 2. / 9}},
		{5, []int{1, 0, 2, 4, 3}, 2, 1, map[int]float64{0: 0.2, -1: 0.4, 1: 0.4}},
		{8, []int{7, 0, 1, 2, 3, 4, 5, 6}, 7, 7, map[int]float64{-7: 1. / 8, 1: 7. / 8}},
		{6, []int{0, 2, 5}, 0, 0, map[int]float64{0: 1}},                             // losses are not reordering
		{6, []int{2, 0, 5}, 1, 1, map[int]float64{0: 1. / 3, 1: 1. / 3, -1: 1. / 3}}, // and do not count as positions
	} {
		r := NewStats(captureInOrder(t, c.n, c.order...)).Reordering
		if r.Reordered != c.reordered || r.MaxExtent != c.extent || math.Abs(r.Ratio-float64(c.reordered)/float64(len(c.order))) > 1e-12 {
			t.Errorf("%v: %+v", c.order, r)
		}
		for d := -maxDisplacement; d <= maxDisplacement; d++ {
			if math.Abs(r.Density[maxDisplacement+d]-c.density[d]) > 1e-12 {
				t.Errorf("%v: density at %d is %g, want %g", c.order, d, r.Density[maxDisplacement+d], c.density[d])
			}
		}
	}
}

// The extents agree with RFC 4737's definition, computed from every pair.
func TestReorderingByDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 50 {
		n := 1 + rng.IntN(80)
		order := rng.Perm(n)[:1+rng.IntN(n)]
		reordered, maxExtent, sum := 0, 0, 0
		for i, s := range order {
			for j := range i {
				if order[j] > s {
					reordered++
					maxExtent, sum = max(maxExtent, i-j), sum+i-j
					break
				}
			}
		}
		r := NewStats(captureInOrder(t, n, order...)).Reordering
		if r.Reordered != reordered || r.MaxExtent != maxExtent || reordered > 0 &&
			math.Abs(r.MeanExtent-float64(sum)/float64(reordered)) > 1e-9 {
			t.Fatalf("%v: %+v, want %d, %d", order, r, reordered, maxExtent)
		}
		total := r.Beyond
		for _, share := range r.Density {
			total += share
		}
		if math.Abs(total-1) > 1e-9 {
			t.Fatalf("the density sums to %g", total)
		}
	}
}

// The statistics of losses in a small example.
func TestLossExample(t *testing.T) {
	st := NewStats(captureInOrder(t, 12, 0, 3, 4, 6, 7, 11)) // lost: 1 2, 5, 8 9 10
	if st.Lost != 6 || st.Bursts != 3 || st.MeanBurst != 2 || st.LongBurst != 3 || !slices.Equal(st.Runs, []int{1, 1, 1}) {
		t.Errorf("%+v", st)
	}
	if want := (3./11 - 0.25) / 0.25; math.Abs(st.LossLag1-want) > 1e-12 {
		t.Errorf("correlation %g, want %g", st.LossLag1, want)
	}
}

// The rows of Trace agree with the verdicts of the link, packet by packet.
func TestTraceAgreesWithVerdicts(t *testing.T) {
	spec := newSpec(t, "loss", "10%", "burst", "2", "latency", "30ms±20ms", "duplicate", "20%", "duplicate_copies", "3",
		"corrupt", "3%", "rate", "5mbit")
	for _, poisson := range []bool{false, true} {
		traffic := Traffic{Packets: 3000, Interval: 2 * time.Millisecond, Size: 300, Poisson: poisson}
		rows, err := Trace(spec, 9, traffic)
		if err != nil {
			t.Fatal(err)
		}
		link, err := lossmodel.NewLink(spec, 9, "down")
		if err != nil {
			t.Fatal(err)
		}
		k, gaps := 0, 0.0
		for i := range traffic.Packets {
			sent := rows[k].Sent
			if i > 0 {
				gaps += float64(sent - rows[k-1].Sent)
			}
			v := link.Send(sent, make([]byte, 300), 0)
			for c := range v.Copies + 1 {
				r := rows[k]
				if r.Seq != uint64(i) || r.Copy != c || r.Sent != sent || c == 0 && !r.Lost && r.Arrived() != v.Due || c == 0 &&
					v.Lost != lossmodel.None && !r.Lost {
					t.Fatalf("row %d is %+v, verdict %+v", k, r, v)
				}
				k++
			}
		}
		if k != len(rows) {
			t.Errorf("%d rows, want %d", len(rows), k)
		}
		if mean := gaps / 2999; math.Abs(mean-2e6) > 5*2e6/math.Sqrt(2999) {
			t.Errorf("packets are %.0f ns apart", mean)
		}
	}
	for _, bad := range []Traffic{{}, {Packets: -1}, {Packets: MaxPackets + 1}, {Packets: 1, Interval: -1}, {Packets: 1, Size: 1 << 20}} {
		if _, err := Trace(spec, 1, bad); err == nil {
			t.Errorf("no error for %+v", bad)
		}
	}
}

// A capture that is replayed as a link's trace gives the same losses, delays and copies, and so
// does the capture of the replay.
func TestReplayedCaptureIsEqual(t *testing.T) {
	spec := newSpec(t, "loss", "15%", "burst", "2", "latency", "60ms±25ms", "distribution", "normal", "duplicate", "20%",
		"duplicate_copies", "2", "rate", "3mbit")
	for _, by := range []string{"", " by=time"} {
		traffic := Traffic{Packets: 2000, Interval: 7 * time.Millisecond, Size: 200, Poisson: by == ""}
		first, err := Trace(spec, 5, traffic)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := capture.Write(&file, slices.Values(first)); err != nil {
			t.Fatal(err)
		}
		traffic.Load = func(string) ([]byte, error) { return file.Bytes(), nil }
		second, err := Trace(newSpec(t, "trace", "capture.csv"+by), 99, traffic)
		if err != nil {
			t.Fatal(err)
		}
		took := func(rows []capture.Packet) (all [2000][]time.Duration) {
			for _, p := range rows {
				if !p.Lost {
					all[p.Seq] = append(all[p.Seq], p.Took)
				}
			}
			for i := range all {
				slices.Sort(all[i])
			}
			return all
		}
		a, b := took(first), took(second)
		for i := range a {
			if !slices.Equal(a[i], b[i]) {
				t.Fatalf("packet %d arrived after %v, in the replay after %v", i, a[i], b[i])
			}
		}
	}
}

// No line of a picture exceeds its width, and an ASCII picture contains only ASCII characters.
func TestPictureWidth(t *testing.T) {
	for _, p := range lossmodel.Profiles() {
		for _, style := range []Style{{Width: 80}, {Width: 3}, {Width: 160, ASCII: true}} {
			text, err := Show(p.Down, 1, Traffic{Packets: 700, Interval: 16 * time.Millisecond, Size: 400}, style)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range strings.Split(text, "\n") {
				if n := utf8.RuneCountInString(line); n > max(style.Width, MinWidth) || strings.HasSuffix(line, " ") {
					t.Errorf("%s at %d: %d columns: %q", p.Name, style.Width, n, line)
				}
			}
			if style.ASCII && strings.Trim(text, "\n !\"#$%&'()*+,-./0123456789:;<=>?@"+
				"ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~") != "" {
				t.Errorf("%s: not ASCII:\n%s", p.Name, text)
			}
			if !strings.Contains(text, "the first 500 packets") {
				t.Errorf("%s: packets are not drawn:\n%s", p.Name, text)
			}
		}
	}
}

// A small capture as text.
func TestPictureGolden(t *testing.T) {
	const want = `12 packets, 50% lost
loss runs: mean 2.00, longest 3
delay mean 2.5, median 3 ms
delay 95% 5, 99% 5 ms
16.7% reordered, extent up to 1

packets lost in a row
       1 ######################   33.33%
       2 ######################   33.33%
       3 ######################   33.33%

the first 12 packets
. arrived  x lost  < reordered  + copied
.xx..x<.xxx.
`
	got := Picture(captureInOrder(t, 12, 0, 3, 4, 7, 6, 11), Style{ASCII: true})
	if i, j := strings.Index(got, "delay, ms"), strings.Index(got, "packets lost"); i > 0 && j > i {
		got = got[:i] + got[j:]
	}
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
