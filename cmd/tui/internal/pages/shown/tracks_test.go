package shown

import (
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/lipgloss"

	"wirelab/cmd/tui/internal/look"
	"wirelab/dataset/frame"
	"wirelab/experiment/engine/playout"
)

// TestTracks: a point without a velocity moves if its place changed within half a second, and its trail has the places of
// the last second.
func TestTracks(t *testing.T) {
	var tr tracks
	at := func(ms int, x float64) point {
		points := []point{{x: x, row: 3}, {x: 7, row: 4}}
		tr.add(time.Duration(ms)*time.Millisecond, points)
		if points[1].state != resting {
			t.Errorf("at %d ms: a point that never moved moves", ms)
		}
		return points[0]
	}
	for _, c := range []struct {
		ms    int
		x     float64
		want  pointState
		trail int
	}{{0, 0, resting, 1}, {100, 1, moving, 2}, {400, 2, moving, 3}, {800, 2, moving, 3}, {950, 2, resting, 3}, {1250, 2, resting, 2},
		{2000, 2, resting, 1}, {2100, 3, moving, 2}, {50, 9, resting, 1}} {
		if pt := at(c.ms, c.x); pt.state != c.want || len(tr.places[pt.key()]) != c.trail {
			t.Errorf("at %d ms: %v with %d places, expected %v with %d", c.ms, pt.state, len(tr.places[pt.key()]), c.want, c.trail)
		}
	}
	tr.add(3*time.Second, []point{{x: 1, row: 4}})
	if len(tr.places) != 1 {
		t.Errorf("a point that is absent has a track: %v", tr.places)
	}
}

// TestExtent: the extent always has all points that move and nine tenths of the others, does not shrink before two
// seconds, and then fits again.
func TestExtent(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	points := make([]point, 200)
	for i := range points {
		points[i] = point{x: rng.Float64() * 100, y: rng.Float64() * 50, row: i}
	}
	points[7] = point{x: 1e6, y: -1e6, row: 7} // at rest, far away
	points[8].state = moving
	var e extent
	now := time.Duration(0)
	step := func(d time.Duration) extent {
		now += d
		e.follow(now, points)
		inside := 0
		for _, p := range points {
			if p.x >= e.left && p.x <= e.right && p.y >= e.bottom && p.y <= e.top {
				inside++
			} else if p.state == moving {
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
	points[8].x = 900
	large := step(time.Second)
	points[8].x = 50
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
	if e.left != points[0].x {
		t.Errorf("without points: %+v", e)
	}
}

// TestKinds: the kinds are those of the field of role Type, and each has a letter of its own.
func TestKinds(t *testing.T) {
	s := arena()
	s.Fields[3] = frame.Field{Name: "type", Kind: frame.Enum, Max: 255, Values: []string{"tank", "truck", "tower"}, Hint: frame.Hint{Role: frame.Type}}
	s.Fields[2].Hint.Axis = 1
	parts, places := findPlaces(s)
	kinds, byPart := findKinds(s, parts, places)
	names := ""
	for _, k := range kinds {
		names += k.name + " " + string(k.letter) + ", "
	}
	if names != "tank t, truck r, tower o, other h, " {
		t.Errorf("%s", names)
	}
	table := arenaTable()
	table[3], table[10], table[24] = 2, 1, 200
	points := findPoints(s, parts, places, byPart, table)
	for i, want := range []int{2, 1, 3, noKind} {
		if points[i].entityKind != want {
			t.Errorf("point %d is of kind %d, expected %d", i, points[i].entityKind, want)
		}
	}
	s.Fields[3].Values = nil
	if kinds, _ := findKinds(s, parts, places); len(kinds) != 1 || kinds[0].name != "entity" {
		t.Errorf("256 values without names: %v", kinds)
	}
	s.Fields[3].Max = 29
	kinds, _ = findKinds(s, parts, places)
	letters := map[rune]bool{}
	for _, k := range kinds {
		letters[k.letter] = true
	}
	if len(kinds) != 30 || len(letters) != 27 || kinds[4].name != "type 4" { // 26 letters, and a question mark for the others
		t.Errorf("%d kinds with %d letters: %v", len(kinds), len(letters), kinds)
	}
}

// TestBlend: a position is interpolated only between points with the same row, group and kind.
func TestBlend(t *testing.T) {
	points := []point{{x: 0, y: 10, row: 1}, {x: 5, row: 2}, {x: 6, row: 3, entityKind: 1}}
	blend(points, []point{{x: 100, y: 20, row: 1}, {x: 50, row: 2, group: 1}, {x: 9, row: 3, entityKind: 2}}, 0.25)
	if points[0].x != 25 || points[0].y != 12.5 || points[1].x != 5 || points[2].x != 6 {
		t.Errorf("%+v", points)
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
	p := &mapView{schema: s}
	p.parts, p.places = findPlaces(s)
	p.kinds, p.partKinds = findKinds(s, p.parts, p.places)
	for i := range int32(4) {
		sent, shown := table(5*i-10), table(5*i-20)
		p.frames = &playout.Frames{Sent: sent, Shown: &shown, Age: 100 * time.Millisecond}
		p.sent, p.shown = p.findPoints(&sent), p.findPoints(&shown)
		p.sentTracks.add(time.Duration(i)*50*time.Millisecond, p.sent)
		p.shownTracks.add(time.Duration(i)*50*time.Millisecond, p.shown)
	}
	p.extent = extent{left: -10, right: 10, bottom: -5, top: 5, known: true}
	p.findDisplaced(0)
	if p.displaced != 1 || p.worstDistance != 10 {
		t.Errorf("%d displaced, by up to %v", p.displaced, p.worstDistance)
	}
	auto, _ := look.ParseScheme("auto")
	th := look.NewTheme(lipgloss.NewRenderer(io.Discard), auto, true)
	draw := func() []string {
		c := look.NewCanvas(98, 14)
		p.Draw(c, th, look.Unfocused)
		return c.Lines(th)
	}
	lines := draw()
	for row, want := range map[int]string{
		0:  "+- Sender  3 entities, 1 player; 1 moving ------++- Receiver  100 ms behind; 1 displaced --------+",
		1:  "|                                             b ||                                             b |",
		7:  "| ,          ,          @          T tank 0     || ,          T----------@----------+            |",
		13: "+- t tank 1  b base 2 -------- 21 units across -++- t tank 1  b base 2 -------- 21 units across -+",
	} {
		if lines[row] != want {
			t.Errorf("row %d is\n%s, expected\n%s", row, lines[row], want)
		}
	}
	if title := look.SpansText(p.ageSpans(90)); title != "100 ms behind; 1 displaced; worst tank 0: 10.0 units" {
		t.Errorf("%q", title)
	}
	p.extent.right, p.extent.left, p.extent.top = 8, -8, 3
	if lines := draw(); !strings.HasPrefix(lines[1], "|                                              >|") || lines[12][1] != '<' {
		t.Errorf("no arrows to what is outside:\n%s", strings.Join(lines, "\n"))
	}
	p.extent = extent{left: -100, right: 100, known: true}
	if draw(); p.stacked {
		t.Error("panes of five rows are stacked")
	}
	if p.chooseLayout(98, 40); !p.stacked {
		t.Error("maps of a wide world are side by side")
	}
	p.extent.top = 50
	if p.chooseLayout(98, 40); !p.stacked {
		t.Error("the layout changes for a scale that is hardly larger")
	}
	p.extent.top = 200
	if p.chooseLayout(98, 40); p.stacked {
		t.Error("maps of a high world are stacked")
	}
}

// Rows are called by the user's ids, shortened and without control characters, or by their numbers where no id is known.
func TestRowsAreNamedByIDs(t *testing.T) {
	s := &frame.Schema{Item: "tank", Rows: 3, Fields: []frame.Field{{Name: "x"}}}
	frames := &playout.Frames{Sent: *s.NewFrame(), Keys: []string{"p-7", "", "a very long\x1b[31m id"}}
	got := (&values{schema: s, frames: frames}).names()
	for i, want := range []string{"     p-7 x", "       1 x", "a very … x"} {
		if got[i] != want {
			t.Errorf("row %d is called %q, expected %q", i, got[i], want)
		}
	}
	m := mapView{schema: s, frames: frames}
	for i, want := range []string{"tank p-7", "tank 1"} {
		if got := m.pointName(&point{row: i, entityKind: noKind}); got != want {
			t.Errorf("the point of row %d is called %q, expected %q", i, got, want)
		}
	}
	if name := m.pointName(&point{row: 2, entityKind: noKind}); strings.Contains(name, "\x1b") {
		t.Errorf("a control character in %q", name)
	}
}
