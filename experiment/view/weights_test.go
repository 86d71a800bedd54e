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

func newPerfectLink(t testing.TB, initial *frame.Frame, s *frame.Schema, policy, weights string, in Interest) *perfectLink {
	p, err := Policies.Parse(policy)
	if err != nil {
		t.Fatal(err)
	}
	w, err := ParseWeights(weights)
	if err == nil {
		err = w.Check(s)
	}
	if err != nil {
		t.Fatal(err)
	}
	l := &perfectLink{t: t, schema: s, filler: NewFiller(s), cur: s.NewFrame(), limit: 5, ticks: 1}
	l.cur.CopyFrom(initial)
	l.server, l.client = NewServer(l.filler, initial), NewClient(s, initial)
	l.filler.SetPolicy(p)
	l.filler.SetWeights(w)
	l.filler.SetInterest(in)
	return l
}

// step sends the current frame and returns the rows of the packet.
func (l *perfectLink) step() (rows []int) {
	l.filler.Advance(l.cur, nil)
	p, err := l.filler.Fill(l.server, l.seq, Coding{Encoder: fixedSize{l.large}, Tick: uint32(int(l.seq) * l.ticks)}, l.limit*rowBytes, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	ref, ok := l.client.Reference(p.Ack, 0, 0)
	if !ok {
		l.t.Fatal("the client does not have the reference")
	}
	n := len(l.schema.Fields)
	for i := range l.schema.Rows {
		if !slices.Equal(p.View.Table[i*n:(i+1)*n], ref.Frame.Table[i*n:(i+1)*n]) {
			rows = append(rows, i)
		}
	}
	l.client.Apply(l.seq, p.Ack, p.View, nil, 0)
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
		l := newPerfectLink(t, teamSchema(rows).NewFrame(), teamSchema(rows), policy, "team:red=100, x=100", Interest{})
		sent := make([]int, rows)
		for n := range packets {
			for i := range rows {
				l.cur.Table[i*teamColumns+xColumn] = int32(n+1)<<18 + int32(i)<<(i%8)
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
	n := len(l.schema.Fields)
	return !slices.Equal(l.client.Display()[i*n:(i+1)*n], l.cur.Table[i*n:(i+1)*n])
}

// teamSchema has rows of two teams, with two quantities, a state without order and a position.
func teamSchema(rows int) *frame.Schema {
	quantity := func(name string) frame.Field { return frame.Field{Name: name, Kind: frame.Quantity, Max: 1 << 30} }
	place := quantity("place")
	place.Hint = frame.Hint{Role: frame.Position, Group: 1}
	return &frame.Schema{Name: "game", Item: "thing", Rows: rows, TickHz: 60, Fields: []frame.Field{
		{Name: "team", Kind: frame.Enum, Max: 1, Values: []string{"red", "blue"}},
		{Name: "state", Kind: frame.Enum, Max: 999}, quantity("x"), quantity("y"), place}}
}

const (
	teamColumn = iota
	stateColumn
	xColumn
	yColumn
	placeColumn
	teamColumns
)

// If each row changes with every tick, and a packet has k rows, an accumulator sends the rows of group g every
// Σw/(k·w(g)) packets: it is stride scheduling. The error that grows with the time t since a row was sent is w·v·t, and
// its sum w·v·t²/2, so that the intervals are inversely proportional to w, or to its square root.
func TestWeightsSetIntervals(t *testing.T) {
	const rows, packets = 60, 4000
	for _, x := range []struct {
		policy, weights string
		ratio           float64 // of the interval of red rows to that of blue ones
	}{
		{"fiedler", "off", 1},
		{"fiedler", "team:blue=4", 4},
		{"fiedler", "team:blue=2, team:red=0.5", 4},
		{"fiedler", "team:red=0.25", 4},
		{"unity", "team:blue=3", 3},
		{"accumulated constant=0", "team:blue=4", 2},
		{"accumulated constant=0", "y=4", 2},
		{"accumulated constant=0", "x=0.25", 2},
		{"accumulated constant=0", "y=9", 3},
		{"accumulated", "y=4, team:red=4", 1},
		{"accumulated constant=0", "y=4, state=7", 2},
		{"round-robin", "team:blue=4", 1},
	} {
		l := newPerfectLink(t, teamSchema(rows).NewFrame(), teamSchema(rows), x.policy, x.weights, Interest{})
		if strings.HasPrefix(x.policy, "fiedler") {
			l.filler.rule.weights = [4]uint32{100, 100, 100, 100}
		}
		var sent [2]int // by team
		for range packets {
			for i := range rows {
				row := l.cur.Table[i*teamColumns:][:teamColumns]
				row[teamColumn] = int32(i % 2)
				row[xColumn+i%2] += 1000 // red rows move along x, blue ones along y
			}
			for _, i := range l.step() {
				sent[i%2]++
			}
		}
		ratio := float64(sent[1]) / float64(sent[0])
		if math.Abs(ratio-x.ratio) > 0.1*x.ratio {
			t.Errorf("%s with %s: the intervals have a ratio of %.2f, want %.1f", x.policy, x.weights, ratio, x.ratio)
		}
		if sum := sent[0] + sent[1]; sum < packets*l.limit*9/10 {
			t.Errorf("%s with %s: %d rows in %d packets", x.policy, x.weights, sum, packets)
		}
	}
}

// Weights of position and orientation: of cubes that move and of cubes that turn, the group with the greater weight has
// the smaller errors.
func TestWeightsOfCubes(t *testing.T) {
	const rows = 60
	intervals := func(weights string) (moving, turning int) {
		l := newPerfectLink(t, frame.Cubes(rows).NewFrame(), frame.Cubes(rows), "accumulated constant=0", weights, Interest{})
		rng := rand.New(rand.NewPCG(3, 4))
		for range 2000 {
			for i := range rows {
				row := l.cur.Table[i*frame.CubeFields:][:frame.CubeFields]
				copy(row, []int32{3, 256, 256, 256, 0, 0, 0, 0})
				if i%2 == 0 {
					row[frame.CubeX] = rng.Int32N(100)
				} else {
					row[frame.CubeA] = 256 + rng.Int32N(100)
				}
			}
			for _, i := range l.step() {
				if i%2 == 0 {
					moving++
				} else {
					turning++
				}
			}
		}
		return moving, turning
	}
	share := func(weights string) float64 {
		moving, turning := intervals(weights)
		return float64(moving) / float64(moving+turning)
	}
	low, equal, high := share("orientation=4"), share("off"), share("position=4")
	if !(low < 0.8*equal && 1.2*equal < high) {
		t.Errorf("the share of moving cubes is %.2f, %.2f and %.2f with rising weight", low, equal, high)
	}
	if got := share("position=1, orientation=1, interacting:1=1"); got != equal {
		t.Errorf("weights of 1 change the share of moving cubes from %v to %v", equal, got)
	}
}

// The constant of a field is its tolerance. With the default policy, rows that are one quantum off in fields with a
// tolerance of half a quantum add 1+0.5 with each packet, and other rows 1+1.
func TestToleranceIsConstant(t *testing.T) {
	const rows = 40
	intervals := func(policy string, tolerance float64) (ratio float64) {
		s := teamSchema(rows)
		s.Fields[stateColumn].Max = 1
		s.Fields[xColumn].Tolerance, s.Fields[xColumn].Scale = tolerance, 1
		l := newPerfectLink(t, s.NewFrame(), s, policy, "off", Interest{})
		l.limit = 2
		var sent [2]int
		for range 3000 {
			for i := range rows { // a row that was sent is one quantum off again, and stays so until it is sent
				if !l.differs(i) {
					l.cur.Table[i*teamColumns+xColumn+i%2] ^= 1
				}
			}
			for _, i := range l.step() {
				sent[i%2]++
			}
		}
		return float64(sent[0]) / float64(sent[1])
	}
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
		if got := intervals(x.policy, x.tolerance); math.Abs(got-x.want) > 0.05*x.want {
			t.Errorf("%s with a tolerance of %g: rows with it are sent %.2f times as often as others, want %.2f", x.policy, x.tolerance, got, x.want)
		}
	}
}

// TestUnityModel compares the rows of each packet with the most important ones of a model that follows the documentation
// of the engine; see spec/crowd.md. The number of rows is that of the packet.
func TestUnityModel(t *testing.T) {
	const rows = 40
	for _, x := range []struct {
		policy   string
		interest Interest
		model    func(row int, position int32, ticksUnsent int, wasSent bool, accumulated *float64) float64 // priority; below 0: not considered
	}{
		{"unity importance=3", Interest{}, func(row int, _ int32, ticks int, _ bool, _ *float64) float64 { return float64(3 * ticks) }},
		{"unity min=20 new=7", Interest{}, func(row int, _ int32, ticks int, wasSent bool, _ *float64) float64 {
			p := float64(ticks)
			if !wasSent {
				p *= 7
			}
			if p < 20 {
				return -1
			}
			return p
		}},
	} {
		initial := teamSchema(rows).NewFrame()
		for i := range rows {
			initial.Table[i*teamColumns+placeColumn] = int32(7 * i)
		}
		l := newPerfectLink(t, initial, teamSchema(rows), x.policy, "off", x.interest)
		l.ticks = 2
		rng := rand.New(rand.NewPCG(1, 2))
		accumulated, sentTick := make([]float64, rows), make([]int, rows)
		for n := range 600 {
			for i := range rows {
				if rng.IntN(3) > 0 {
					l.cur.Table[i*teamColumns+stateColumn] = (l.cur.Table[i*teamColumns+stateColumn] + 1) % 1000
				}
			}
			tick := 2*n + 1 // 0 means never
			type ranked struct {
				row      int
				priority float64
			}
			var want []ranked
			for i := range rows {
				if !l.differs(i) {
					accumulated[i] = 0
					continue
				}
				if p := x.model(i, l.cur.Table[i*teamColumns+placeColumn], tick-sentTick[i], sentTick[i] > 0, &accumulated[i]); p >= 0 {
					want = append(want, ranked{i, p})
				}
			}
			slices.SortStableFunc(want, func(a, b ranked) int { return cmp.Compare(math.Round(1e6*b.priority), math.Round(1e6*a.priority)) })
			got := l.step()
			if len(got) > len(want) || len(got) < min(len(want), l.limit-1) {
				t.Fatalf("%s, packet %d: %d rows of %d", x.policy, n, len(got), len(want))
			}
			var rowsOfModel []int
			for _, r := range want[:len(got)] {
				rowsOfModel = append(rowsOfModel, r.row)
				accumulated[r.row], sentTick[r.row] = 0, tick
			}
			slices.Sort(rowsOfModel)
			if !slices.Equal(got, rowsOfModel) {
				t.Fatalf("%s, packet %d: rows %v, want %v", x.policy, n, got, rowsOfModel)
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
		"z=2":                           `unknown field or value of a field "z": expected one of team, state, x, y, place, team:red, team:blue`,
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

// A row at a place that is no number has the priority of the farthest rows, on every machine.
func TestPlaceThatIsNoNumber(t *testing.T) {
	s := teamSchema(3)
	s.Fields[placeColumn].Kind = frame.Float32
	l := newPerfectLink(t, s.NewFrame(), s, "unity importance=1000", "off", Interest{Radius: 20, Falloff: 1})
	l.limit = 0
	for i, place := range []float64{math.NaN(), math.Inf(1), 1e30} {
		l.cur.Table[i*teamColumns+placeColumn] = int32(math.Float32bits(float32(place)))
	}
	l.step()
	far := l.filler.Explain(l.server, 2)
	for i := range 2 {
		if r := l.filler.Explain(l.server, i); r.Priority != far.Priority || r.Factor != far.Factor {
			t.Errorf("row %d has priority %d and factor %g; a far one %d and %g", i, r.Priority, r.Factor, far.Priority, far.Factor)
		}
	}
}

// Explain names what determines a priority.
func TestExplainWeights(t *testing.T) {
	s := teamSchema(2)
	s.Fields[xColumn].Tolerance = 0.5
	l := newPerfectLink(t, s.NewFrame(), s, "accumulated", "x=3, team:blue=4", Interest{Radius: 10, Falloff: 1, Point: [3]float64{20}})
	l.limit = 0
	l.cur.Table[teamColumns+xColumn], l.cur.Table[teamColumns+placeColumn] = 8, 0
	l.cur.Table[teamColumns+teamColumn] = 1
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

// New weights take effect at once, also for rows that do not change any more.
func TestWeightsOfRestingRows(t *testing.T) {
	s := teamSchema(2)
	l := newPerfectLink(t, s.NewFrame(), s, "accumulated constant=0", "off", Interest{})
	l.limit = 0
	l.cur.Table[teamColumns+xColumn] = 80
	for _, c := range []struct {
		weights string
		want    uint32 // what a packet adds to the priority
	}{{"off", 1 + 80*ErrorUnit}, {"x=3", 1 + 3*80*ErrorUnit}, {"x=0", 1}, {"team:red=2", 2 * (1 + 80*ErrorUnit)}, {"off", 1 + 80*ErrorUnit}} {
		w, err := ParseWeights(c.weights)
		if err != nil {
			t.Fatal(err)
		}
		l.filler.SetWeights(w)
		before := l.server.accumulated[1]
		l.step()
		if added := l.server.accumulated[1] - before; added != c.want {
			t.Errorf("%s: a packet adds %d to the priority, want %d", c.weights, added, c.want)
		}
	}
}

// Rows that are larger than a packet and more urgent than all others do not keep these from being sent.
func TestLargeRowsDoNotBlock(t *testing.T) {
	const rows, large = 40, 20
	for i := range Policies {
		schema := teamSchema(rows)
		l := newPerfectLink(t, schema.NewFrame(), schema, Policies[i].Name, "off", Interest{})
		l.large = large
		sent := 0
		for n := range 4 * retryFrames {
			for i := range rows {
				change := int32(1)
				if i < large {
					change = 1000
				}
				l.cur.Table[i*teamColumns+xColumn] = int32(n) * change
			}
			sent += len(l.step())
		}
		// Two large rows are found with each packet, so that every second a sixth of the packets is empty.
		if most := 4 * retryFrames * l.limit; sent < most*3/4 {
			t.Errorf("%s: %d rows were sent, want %d", Policies[i].Name, sent, most*5/6)
		}
	}
}
