package worldview

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/dataset/frame"
	"wirelab/experiment/engine/playout"
)

// TestTracks: a point without a velocity moves if its place changed within half a second, and its trail has the places of
// the last second.
func TestTracks(t *testing.T) {
	var tr tracks
	at := func(ms int, x float64) Thing {
		points := []Thing{{X: x, Row: 3}, {X: 7, Row: 4}}
		tr.add(time.Duration(ms)*time.Millisecond, points)
		if points[1].State != Resting {
			t.Errorf("at %d ms: a point that never moved moves", ms)
		}
		return points[0]
	}
	for _, c := range []struct {
		ms    int
		x     float64
		want  State
		trail int
	}{{0, 0, Resting, 1}, {100, 1, Moving, 2}, {400, 2, Moving, 3}, {800, 2, Moving, 3}, {950, 2, Resting, 3}, {1250, 2, Resting, 2},
		{2000, 2, Resting, 1}, {2100, 3, Moving, 2}, {50, 9, Resting, 1}} {
		if pt := at(c.ms, c.x); pt.State != c.want || len(tr.places[thingKey{3, 0}]) != c.trail {
			t.Errorf("at %d ms: %v with %d places, expected %v with %d", c.ms, pt.State, len(tr.places[thingKey{3, 0}]), c.want, c.trail)
		}
	}
	tr.add(3*time.Second, []Thing{{X: 1, Row: 4}})
	if len(tr.places) != 1 {
		t.Errorf("a point that is absent has a track: %v", tr.places)
	}
}

// TestExtent: the extent always has all points that move and nine tenths of the others, does not shrink before two
// seconds, and then fits again.
func TestExtent(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	points := make([]Thing, 200)
	for i := range points {
		points[i] = Thing{X: rng.Float64() * 100, Y: rng.Float64() * 50, Row: i}
	}
	points[7] = Thing{X: 1e6, Y: -1e6, Row: 7} // at rest, far away
	points[8].State = Moving
	var e extent
	now := time.Duration(0)
	step := func(d time.Duration) extent {
		now += d
		e.follow(now, points)
		inside := 0
		for _, p := range points {
			if p.X >= e.left && p.X <= e.right && p.Y >= e.bottom && p.Y <= e.top {
				inside++
			} else if p.State == Moving {
				t.Errorf("%v: %+v moves outside of %+v", now, p, e)
			}
		}
		if inside < len(points)*9/10 {
			t.Errorf("%v: %d of %d points are inside", now, inside, len(points))
		}
		return e
	}
	small := step(0)
	if small.right > 200 {
		t.Errorf("%+v includes a point at rest that is far away", small)
	}
	points[8].X = 900
	large := step(time.Second)
	points[8].X = 50
	if step(time.Second) != step(900*time.Millisecond) || e.right != large.right {
		t.Errorf("%+v shrinks at once from %+v", e, large)
	}
	step(time.Second)
	if step(time.Second / 2); e.right > 200 {
		t.Errorf("%+v has not shrunk to %+v", e, small)
	}
	e.follow(0, points[:1])
	if e.left != e.right || !e.known {
		t.Errorf("a session that was restarted: %+v", e)
	}
	e.follow(0, nil)
	if e.left != points[0].X {
		t.Errorf("without points: %+v", e)
	}
}

// TestKinds: the kinds are those of the field of role Type, and each has a letter of its own.
func TestKinds(t *testing.T) {
	s := arena()
	s.Fields[3] = frame.Field{Name: "type", Kind: frame.Enum, Max: 255, Values: []string{"tank", "truck", "tower"}, Hint: frame.Hint{Role: frame.Type}}
	s.Fields[2].Hint.Axis = 1
	parts := findParts(s)
	kinds := findKinds(s, parts)
	names := ""
	for _, k := range kinds {
		names += k.name + " " + string(k.letter) + ", "
	}
	if names != "tank t, truck r, tower o, other h, " {
		t.Errorf("%s", names)
	}
	table := arenaTable()
	table[3], table[10], table[24] = 2, 1, 200
	points := findThings(nil, s, parts, table)
	for i, want := range []int{2, 1, 3, noKind} {
		if points[i].Kind != want {
			t.Errorf("point %d is of kind %d, expected %d", i, points[i].Kind, want)
		}
	}
	s.Fields[3].Values = nil
	if kinds := findKinds(s, findParts(s)); len(kinds) != 1 || kinds[0].name != "entity" {
		t.Errorf("256 values without names: %v", kinds)
	}
	s.Fields[3].Max = 29
	kinds = findKinds(s, findParts(s))
	letters := map[rune]bool{}
	for _, k := range kinds {
		letters[k.letter] = true
	}
	if len(kinds) != 30 || len(letters) != 27 || kinds[4].name != "type 4" { // 26 letters, and a question mark for the others
		t.Errorf("%d kinds with %d letters: %v", len(kinds), len(letters), kinds)
	}
}

// TestBlend: a position is interpolated only between things with the same row, group and kind.
func TestBlend(t *testing.T) {
	things := []Thing{{Y: 10, Row: 1}, {X: 5, Row: 2}, {X: 6, Row: 3, Kind: 1}}
	blend(things, []Thing{{X: 100, Y: 20, Row: 1}, {X: 50, Row: 2, Group: 1}, {X: 9, Row: 3, Kind: 2}}, 0.25)
	if things[0].X != 25 || things[0].Y != 12.5 || things[1].X != 5 || things[2].X != 6 {
		t.Errorf("%+v", things)
	}
}

// TestMap draws a known world in ASCII: trails, letters, names, the line from the displayed place to the sender's, and an
// arrow to what is outside.
func TestMap(t *testing.T) {
	s := arena()
	s.Fields[3] = frame.Field{Name: "type", Kind: frame.Enum, Max: 1, Values: []string{"tank", "base"}, Hint: frame.Hint{Role: frame.Type}}
	table := func(x int32) frame.Frame {
		return frame.Frame{Table: []int32{
			1, 2 * x, 0, 0, 0, 0, 0, // a tank
			1, -20, 10, 1, 0, 0, 0, // a base
			0, 0, 0, 0, 0, 0, 0,
			1, 20, -10, 1, 0, 0, 0,
			0, 0, 0, 0, 0, 0, 0}}
	}
	m := NewMap(s)
	for i := range int32(4) {
		shown := table(5*i - 20)
		m.SetFrames(time.Duration(i)*50*time.Millisecond, &playout.Frames{Sent: table(5*i - 10), Shown: &shown})
	}
	if m.Displaced != 1 || m.WorstDistance != 10 || m.ThingName(&m.Worst) != "tank 0" {
		t.Errorf("%d displaced, by up to %v: %s", m.Displaced, m.WorstDistance, m.ThingName(&m.Worst))
	}
	const receiver, ascii = true, true
	draw := func(receiver bool) []string {
		c := look.NewCanvas(49, 14)
		m.Camera.Track(m.now, nil)
		m.Draw(c, labtest.Theme(ascii), 0, receiver, nil)
		return c.Lines(labtest.Theme(ascii))
	}
	m.Camera.extent = extent{left: -10, right: 10, bottom: -5, top: 5, known: true, lastFit: time.Hour}
	for row, want := range map[int][2]string{
		2:  {"                                            b    ", "                                            b    "},
		7:  {"    ,         ,         @         T tank 0  +    ", "    ,         T---------@---------x         +    "},
		13: {"   t tank 1  b base 2          24 units across   ", "   t tank 1  b base 2          24 units across   "},
	} {
		for i, side := range want {
			if got := draw(i > 0)[row]; got != side {
				t.Errorf("row %d is\n%q, expected\n%q", row, got, side)
			}
		}
	}
	m.Camera.extent = extent{left: -8, right: 8, bottom: -5, top: 3, known: true, lastFit: time.Hour}
	if lines := draw(!receiver); !strings.Contains(lines[1], "/") || !strings.Contains(lines[12], "<") {
		t.Errorf("no arrows to what is outside:\n%s", strings.Join(lines, "\n"))
	}
}
