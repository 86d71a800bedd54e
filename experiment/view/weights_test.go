package view

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/internal/setting"
)

// fixedSize is an encoder whose packets have rowBytes for each changed row, and 1000 times as many for the first large rows.
type fixedSize struct{ large int }

const rowBytes = 4

func (e fixedSize) Encode(dst []byte, _ *frame.Frame, refs []encoders.Ref, _ encoders.Memo, _ *encoders.Budget) ([]byte, encoders.Memo, error) {
	size := 0
	for i := range refs[0].Changed.All() {
		size += rowBytes
		if i < e.large {
			size += 1000 * rowBytes
		}
	}
	return append(dst, make([]byte, size)...), nil, nil
}

// perfectLink is a server and a client without loss or delay.
type perfectLink struct {
	t      testing.TB
	schema *frame.Schema
	filler *Filler
	server *Server
	client *Client
	cur    *frame.Frame
	seq    uint64
	limit  int // rows of a packet
	ticks  int // from packet to packet
	large  int // number of first rows that are larger than a packet
}

// newPerfectLink returns a link on which both ends show the zero frame.
func newPerfectLink(t testing.TB, s *frame.Schema, policy, weights string, in Interest) *perfectLink {
	p, err := Policies.Parse(policy)
	if err != nil {
		t.Fatal(err)
	}
	l := &perfectLink{t: t, schema: s, filler: NewFiller(s), cur: s.NewFrame(), limit: 5, ticks: 1}
	l.server, l.client = NewServer(l.filler, s.NewFrame()), NewClient(s, s.NewFrame())
	l.filler.SetPolicy(p)
	l.setWeights(weights)
	l.filler.SetInterest(in)
	return l
}

func (l *perfectLink) setWeights(text string) {
	w, err := ParseWeights(text)
	if err == nil {
		err = w.Check(l.schema)
	}
	if err != nil {
		l.t.Fatal(err)
	}
	l.filler.SetWeights(w)
}

// row returns row i of the current frame.
func (l *perfectLink) row(i int) []int32 { return l.filler.row(l.cur.Table, i) }

// step sends the current frame and returns the rows of the packet.
func (l *perfectLink) step() (rows []int) {
	l.filler.Advance(l.cur, nil)
	p, err := l.filler.Fill(l.server, l.seq, Coding{Encoder: fixedSize{l.large}, TickHz: l.ticks, RateHz: 1}, l.limit*rowBytes, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	sent, _ := p.Frames()
	ref, ok := l.client.Reference(p.Ack, 0, 0)
	if !ok {
		l.t.Fatal("the client does not have the reference")
	}
	for i := range l.schema.Rows {
		if !slices.Equal(l.filler.row(sent.Table, i), l.filler.row(ref.Frame.Table, i)) {
			rows = append(rows, i)
		}
	}
	l.client.Apply(l.seq, p.Ack, sent, nil, 0)
	if _, err := l.server.HandleAck(l.client.AppendAck(nil, 0)); err != nil {
		l.t.Fatal(err)
	}
	l.seq++
	return rows
}

// Rows whose accumulated priorities have reached the limit are sent in the order in which they began to wait, so that none
// is sent less often than others. With the largest weights this takes 11 packets.
func TestSaturatedPrioritiesAreFair(t *testing.T) {
	const rows, packets, perPacket = 600, 2000, 5
	for _, policy := range []string{"accumulated", "accumulated constant=0", "fiedler moving=1000000 rest=1000000"} {
		l := newPerfectLink(t, teamSchema(rows), policy, "team:red=100, x=100", Interest{})
		sent := make([]int, rows)
		for n := range packets {
			for i := range rows {
				l.row(i)[xColumn] = int32(n+1)<<18 + int32(i)<<(i%8)
			}
			for _, i := range l.step() {
				sent[i]++
			}
		}
		const mean = packets * perPacket / rows
		if least, most := slices.Min(sent), slices.Max(sent); least < mean-2 || most > mean+3 {
			t.Errorf("%s: rows are sent %d to %d times, expected %d", policy, least, most, mean)
		}
	}
}

// differs reports whether the client shows another value of row i than the current one.
func (l *perfectLink) differs(i int) bool {
	return !slices.Equal(l.filler.row(l.client.Display(), i), l.row(i))
}

// teamSchema has rows of two teams, with two quantities, a state without order and a position.
func teamSchema(rows int) *frame.Schema {
	quantity := func(name string) frame.Field { return frame.Field{Name: name, Kind: frame.Quantity, Max: 1 << 30} }
	place := quantity("place")
	place.Hint = frame.Hint{Role: frame.Position, Group: 1}
	return &frame.Schema{Name: "game", Item: "thing", Rows: rows, TickHz: 60, Fields: []frame.Field{
		place, {Name: "team", Kind: frame.Enum, Max: 1, Values: []string{"red", "blue"}},
		{Name: "state", Kind: frame.Enum, Max: 999}, quantity("x"), quantity("y")}}
}

const (
	placeColumn = iota
	teamColumn
	stateColumn
	xColumn
	yColumn
)

// ratio changes rows with move for some packets, and returns how many times as often odd rows are sent as even ones.
func (l *perfectLink) ratio(packets int, move func(row []int32, i int)) float64 {
	var sent [2]int
	for range packets {
		for i := range l.schema.Rows {
			move(l.row(i), i)
		}
		for _, i := range l.step() {
			sent[i%2]++
		}
	}
	if sum := sent[0] + sent[1]; sum < packets*l.limit*9/10 {
		l.t.Errorf("%d rows in %d packets", sum, packets)
	}
	return float64(sent[1]) / float64(sent[0])
}

// If each row changes with every tick, and a packet has k rows, an accumulator sends the rows of group g every
// Σw/(k·w(g)) packets: it is stride scheduling. The error that grows with the time t since a row was sent is w·v·t, and
// its sum w·v·t²/2, so that the intervals are inversely proportional to w, or to its square root.
func TestWeightsSetIntervals(t *testing.T) {
	for _, x := range []struct {
		policy, weights string
		ratio           float64 // of the interval of red rows to that of blue ones
	}{
		{"fiedler moving=100 interacting=100 rest=100", "off", 1},
		{"fiedler moving=100 interacting=100 rest=100", "team:blue=4", 4},
		{"fiedler moving=100 interacting=100 rest=100", "team:blue=2, team:red=0.5", 4},
		{"fiedler moving=100 interacting=100 rest=100", "team:red=0.25", 4},
		{"unity", "team:blue=3", 3},
		{"accumulated constant=0", "team:blue=4", 2},
		{"accumulated constant=0", "y=4", 2},
		{"accumulated constant=0", "x=0.25", 2},
		{"accumulated constant=0", "y=9", 3},
		{"accumulated", "y=4, team:red=4", 1},
		{"accumulated constant=0", "y=4, state=7", 2},
		{"round-robin", "team:blue=4", 1},
	} {
		l := newPerfectLink(t, teamSchema(60), x.policy, x.weights, Interest{})
		l.filler.rule.weights[0] = 100 // the player's row is no exception
		got := l.ratio(4000, func(row []int32, i int) {
			row[teamColumn] = int32(i % 2)
			row[xColumn+i%2] += 1000 // red rows move along x, blue ones along y
		})
		if math.Abs(got-x.ratio) > 0.1*x.ratio {
			t.Errorf("%s with %s: the intervals have a ratio of %.2f, want %.1f", x.policy, x.weights, got, x.ratio)
		}
	}
}

// Weights of position and orientation: of cubes that turn and of cubes that move, the group with the greater weight is
// sent more often.
func TestWeightsOfCubes(t *testing.T) {
	ratio := func(weights string) float64 {
		l, rng := newPerfectLink(t, frame.Cubes(60), "accumulated constant=0", weights, Interest{}), rand.New(rand.NewPCG(3, 4))
		return l.ratio(2000, func(row []int32, i int) {
			copy(row, []int32{3, 256, 256, 256, 0, 0, 0, 0})
			column := [2]int{frame.CubeA, frame.CubeX}[i%2]
			row[column] += rng.Int32N(100)
		})
	}
	low, equal, high := ratio("orientation=4"), ratio("off"), ratio("position=4")
	if !(low < 0.8*equal && 1.2*equal < high) {
		t.Errorf("moving cubes are sent %.2f, %.2f and %.2f times as often as turning ones with rising weight", low, equal, high)
	}
	if got := ratio("position=1, orientation=1, interacting:1=1"); got != equal {
		t.Errorf("weights of 1 change the ratio from %v to %v", equal, got)
	}
}

// The constant of a field is its tolerance. With the default policy, rows that are one quantum off in fields with a
// tolerance of half a quantum add 1+0.5 with each packet, and other rows 1+1.
func TestToleranceIsConstant(t *testing.T) {
	const startOfDistance = 1.0 / ErrorUnit // Distance begins at 1
	for _, x := range []struct {
		policy    string
		tolerance float64
		want      float64
	}{
		{"accumulated", 0, 1},
		{"accumulated", 0.5, (1 + startOfDistance + 0.5) / (1 + startOfDistance + 1)},
		{"accumulated", 4, (1 + startOfDistance + 4) / (1 + startOfDistance + 1)},
		{"accumulated constant=10", 0.5, (1 + startOfDistance + 5) / (1 + startOfDistance + 10)},
		{"accumulated constant=0", 0.5, 1},
	} {
		s := teamSchema(40)
		s.Fields[yColumn].Tolerance, s.Fields[yColumn].Scale = x.tolerance, 1
		l := newPerfectLink(t, s, x.policy, "off", Interest{})
		l.limit = 2
		got := l.ratio(3000, func(row []int32, i int) { // a row that was sent is one quantum off again, and stays so until it is sent
			if !l.differs(i) {
				row[xColumn+i%2] ^= 1
			}
		})
		if math.Abs(got-x.want) > 0.05*x.want {
			t.Errorf("%s with a tolerance of %g: rows with it are sent %.2f times as often as others, want %.2f", x.policy, x.tolerance, got, x.want)
		}
	}
}

// TestUnityModel compares the rows of each packet with the most important ones of a model that follows the documentation
// of the engine; see spec/crowd.md. The number of rows is that of the packet.
func TestUnityModel(t *testing.T) {
	const rows = 40
	for _, x := range []struct {
		policy               string
		importance, new, min int
	}{{"unity importance=3", 3, 1, 0}, {"unity min=20 new=7", 1, 7, 20}} {
		l := newPerfectLink(t, teamSchema(rows), x.policy, "off", Interest{})
		l.ticks = 2
		rng := rand.New(rand.NewPCG(1, 2))
		sentTick := make([]int, rows) // 0 means never
		for n := range 600 {
			tick := 2*n + 1
			var want []int // waiting rows
			priority := func(i int) int {
				if sentTick[i] == 0 {
					return x.importance * tick * x.new
				}
				return x.importance * (tick - sentTick[i])
			}
			for i := range rows {
				if rng.IntN(3) > 0 {
					l.row(i)[stateColumn] = (l.row(i)[stateColumn] + 1) % 1000
				}
				if l.differs(i) && priority(i) >= x.min {
					want = append(want, i)
				}
			}
			slices.SortStableFunc(want, func(a, b int) int { return cmp.Compare(priority(b), priority(a)) })
			got := l.step()
			if len(got) > len(want) || len(got) < min(len(want), l.limit-1) {
				t.Fatalf("%s, packet %d: %d rows of %d", x.policy, n, len(got), len(want))
			}
			want = want[:len(got)]
			for _, i := range want {
				sentTick[i] = tick
			}
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Fatalf("%s, packet %d: rows %v, want %v", x.policy, n, got, want)
			}
		}
	}
}

func TestParseWeights(t *testing.T) {
	s := teamSchema(2)
	for text, want := range map[string]string{
		"off":                           "off",
		" x=2,team:blue = 0.5 ":         "x=2, team:blue=0.5",
		"x=0":                           "x=0",
		"x=1.23456":                     "x=1.235",
		"":                              `weights: got "", expected a list`,
		"x":                             `weights: got "x", expected a list`,
		"x=2 y=3":                       `unknown field or value of a field "x=2 y"`,
		"x=-1":                          `x: got "x=-1", expected 0, or a factor from 0.001 to 100, such as x=2`,
		"x=0.0004":                      "expected 0, or a factor from 0.001 to 100",
		"x=101":                         "expected 0, or a factor from 0.001 to 100",
		"x=NaN":                         "expected 0, or a factor from 0.001 to 100",
		"x=2,x=3":                       "expected each name once",
		"z=2":                           `unknown field or value of a field "z": expected one of place, team, state, x, y, team:red, team:blue`,
		"tem:blue=2":                    `unknown field or value of a field "tem:blue"`,
		"team:green=2":                  `unknown field or value of a field "team:green"`,
		"x:1=2":                         `unknown field or value of a field "x:1"`,
		"position=2":                    `unknown field or value of a field "position"`,
		strings.Repeat("x", 999) + "=1": "unknown field or value",
	} {
		w, err := ParseWeights(text)
		if err == nil {
			err = w.Check(s)
		}
		got := w.String()
		if err != nil {
			got = err.Error()
			if e := (*setting.KeyError)(nil); !errors.As(err, &e) {
				t.Errorf("%q: the error is a %T", text, err)
			}
		} else if again, err := ParseWeights(got); err != nil || again != w {
			t.Errorf("%q becomes %v, %v", got, again, err)
		}
		if !strings.HasPrefix(got, want) && !(err != nil && strings.Contains(got, want)) {
			t.Errorf("%q: %s; want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{"position=2, orientation=0, interacting:1=4": "", "x=2": `"x"`, "interacting:2=1": "expected one of position, orientation, interacting:0, interacting:1"} {
		w, err := ParseWeights(text)
		if err == nil {
			err = w.Check(frame.Cubes(3))
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("cubes, %q: %v; want %s", text, err, want)
		}
	}
}

// A row at a place that is no number has the priority of the farthest rows, on every machine. Without a radius, all rows
// have their full priority.
func TestInterest(t *testing.T) {
	s := teamSchema(3)
	s.Fields[placeColumn].Kind = frame.Float32
	for _, radius := range []float64{20, 0} {
		l := newPerfectLink(t, s, "unity importance=1000", "off", Interest{Radius: radius, Falloff: 1})
		l.limit = 0
		for i, place := range []float64{math.NaN(), math.Inf(1), 1e30} {
			l.row(i)[placeColumn] = int32(math.Float32bits(float32(place)))
		}
		l.step()
		far := l.filler.Explain(l.server, 2)
		if (far.Factor == 1) != (radius == 0) {
			t.Errorf("radius %g: a far row has factor %g", radius, far.Factor)
		}
		for i := range 2 {
			if r := l.filler.Explain(l.server, i); r.Priority != far.Priority || r.Factor != far.Factor {
				t.Errorf("row %d has priority %d and factor %g; a far one %d and %g", i, r.Priority, r.Factor, far.Priority, far.Factor)
			}
		}
	}
}

// Explain names what determines a priority. The place of row 0, with which the interest begins, is that of the point if
// the player has no such row.
func TestExplainWeights(t *testing.T) {
	s := teamSchema(2)
	s.Fields[xColumn].Tolerance = 0.5
	for _, in := range []Interest{{Radius: 10, Falloff: 1, Point: [3]float64{20}}, {Row: 3, Radius: 10, Falloff: 1, Point: [3]float64{20}}} {
		l := newPerfectLink(t, s, "accumulated", "x=3, team:blue=4", in)
		l.limit = 0
		l.row(1)[xColumn] = 8
		l.row(1)[teamColumn] = 1
		l.step()
		r := l.filler.Explain(l.server, 1)
		if r.Group != 4 || r.Factor != 0.5 || r.Constant != 1 { // the tolerance is 0.5, that of the team is one quantum
			t.Errorf("%+v", r)
		}
		const want = "9 steps off, waits 0 frames, 17 bits, 25 steps with weights, + 1 steps constant, × 4 for its group, × 0.50 for its distance" +
			"; does not fit into a packet alone"
		if got := r.Text("steps"); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		// Weighted error and constant, times the factors, once in Fill and once in Explain.
		if want := uint64((math.Round(ErrorUnit*r.Weighted) + ErrorUnit) * 4 / 2); r.Priority/2 != want {
			t.Errorf("the priority is %d, want %d", r.Priority, want)
		}
	}
}

// New weights take effect at once, also for rows that do not change any more.
func TestWeightsOfRestingRows(t *testing.T) {
	l := newPerfectLink(t, teamSchema(2), "accumulated constant=0", "off", Interest{})
	l.limit = 0
	l.row(1)[xColumn] = 80
	for _, c := range []struct {
		weights string
		want    uint32 // what a packet adds to the priority
	}{{"off", 1 + 80*ErrorUnit}, {"x=3", 1 + 3*80*ErrorUnit}, {"x=0", 1}, {"team:red=2", 2 * (1 + 80*ErrorUnit)}, {"off", 1 + 80*ErrorUnit}} {
		l.setWeights(c.weights)
		before := l.server.waitingRowOf(1).accumulated
		l.step()
		if added := l.server.waitingRowOf(1).accumulated - before; added != c.want {
			t.Errorf("%s: a packet adds %d to the priority, want %d", c.weights, added, c.want)
		}
	}
}

// Rows that are larger than a packet and more urgent than all others do not keep these from being sent.
func TestLargeRowsDoNotBlock(t *testing.T) {
	const rows, large = 40, 20
	for i := range Policies {
		l := newPerfectLink(t, teamSchema(rows), Policies[i].Name, "off", Interest{})
		l.large = large
		sent := 0
		for n := range 4 * retryFrames {
			for i := range rows {
				change := int32(1)
				if i < large {
					change = 1000
				}
				l.row(i)[xColumn] = int32(n) * change
			}
			sent += len(l.step())
		}
		if l.server.retryAt != 4*retryFrames+1 { // rows are tried again with the first of every retryFrames packets
			t.Errorf("%s: large rows are tried again with packet %d", Policies[i].Name, l.server.retryAt)
		}
		// Two large rows are found with each packet, so that every second a sixth of the packets is empty.
		if most := 4 * retryFrames * l.limit; sent < most*3/4 {
			t.Errorf("%s: %d rows were sent, want %d", Policies[i].Name, sent, most*5/6)
		}
	}
}
