package engine

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/figures"
)

// pathTable is a source of a table: fill sets the fields of row i at tick n. It never ends.
type pathTable struct {
	schema *frame.Schema
	fill   func(row []int32, i, n int)
	n      int
}

func (p *pathTable) Schema() *frame.Schema { return p.schema }

func (p *pathTable) Initial(f *frame.Frame) {
	*f = *p.schema.NewFrame()
	p.fillFrame(f, 0)
}

func (p *pathTable) fillFrame(f *frame.Frame, n int) {
	fields := len(p.schema.Fields)
	for i := range p.schema.Rows {
		p.fill(f.Table[i*fields:(i+1)*fields], i, n)
	}
}

func (p *pathTable) Next(f *frame.Frame) error {
	f.CopyFrom(p.schema.NewFrame())
	p.fillFrame(f, p.n)
	p.n++
	return nil
}

// tankSchema has rows with a position in cm, a heading in degrees with steps of 0.005, a presence and a type.
func tankSchema(rows int) *frame.Schema {
	place := func(name string, axis uint8) frame.Field {
		return frame.Field{Name: name, Unit: "cm", Min: -1 << 30, Max: 1 << 30, Scale: 0.5, Hint: frame.Hint{Role: frame.Position, Group: 1, Axis: axis}}
	}
	return &frame.Schema{Name: "table", Item: "tank", Rows: rows, TickHz: 60, Fields: []frame.Field{
		place("x", 0), place("y", 1), {Name: "heading", Unit: "deg", Kind: frame.Angle, Min: -fullTurn / 2, Max: fullTurn/2 - 1, Scale: 360.0 / fullTurn},
		{Name: "here", Kind: frame.Flag, Max: 1, Hint: frame.Hint{Role: frame.Present}},
		{Name: "kind", Kind: frame.Enum, Max: 9, Hint: frame.Hint{Role: frame.Type}}, {Name: "health", Max: 1000}}}
}

// fullTurn is the number of steps of tankSchema's heading in a turn.
const fullTurn = 72_000

// wrapStep returns the heading of tankSchema after n steps from 0.
func wrapStep(n int) int32 { return int32(((n+fullTurn/2)%fullTurn+fullTurn)%fullTurn) - fullTurn/2 }

// displayTable runs a session of a table at 10 snapshots a second, whose source has 60 ticks a second,
// and returns the figures of its display.
func displayTable(t *testing.T, src *pathTable, settings ...string) figures.Playout {
	t.Helper()
	_, got := displaySource(t, src, "delta-adaptive", 8*time.Second, settings...)
	return got
}

// Tanks that drive and turn uniformly are displayed without an error, also where the heading wraps.
func TestUniformTableHasNoError(t *testing.T) {
	for _, settings := range [][]string{{}, {"receiver.interpolation", "hermite"}, {"down.loss", "20%", "receiver.playout_delay", "1200ms"}} {
		p := displayTable(t, &pathTable{schema: tankSchema(5), fill: func(row []int32, i, n int) {
			copy(row, []int32{int32((3+i)*n - 900), int32(7*i - 2*n), wrapStep((i - 2) * 300 * n), 1, int32(i), int32(n % 1000)})
		}}, settings...)
		if p.PositionError.N == 0 || p.PositionError.Max != 0 || p.AngleError.N == 0 || p.AngleError.Max != 0 {
			t.Errorf("%v: positions %v %s, angles %v %s, expected no errors", settings, p.PositionError, p.PositionErrorUnit, p.AngleError, p.AngleErrorUnit)
		}
		if p.PositionErrorUnit != "cm" || p.AngleErrorUnit != "deg" || p.PositionErrorMM != nil {
			t.Errorf("units %q and %q", p.PositionErrorUnit, p.AngleErrorUnit)
		}
	}
}

// Between snapshots six ticks apart, a path of n*n steps is displayed k*(6-k) steps ahead, k ticks after
// the first: at most 9 steps. A cubic curve is exact.
func TestAcceleratedTable(t *testing.T) {
	const step, angleStep = 0.5, 0.005 // cm, degrees
	src := func() *pathTable {
		return &pathTable{schema: tankSchema(1), fill: func(row []int32, _, n int) {
			// On both axes, so that the distance is that of the diagonal of 3 and 4 steps.
			copy(row, []int32{int32(3 * n * n), int32(4 * n * n), wrapStep(n * n), 1, 0, 0})
		}}
	}
	p := displayTable(t, src())
	if want := 9 * 5 * step; math.Abs(p.PositionError.Max-want) > 1e-9 {
		t.Errorf("position error at most %v cm, expected %v", p.PositionError.Max, want)
	}
	if want := 9 * angleStep; math.Abs(p.AngleError.Max-want) > 1e-9 {
		t.Errorf("angle error at most %v deg, expected %v", p.AngleError.Max, want)
	}
	// The errors of a period are 5, 8, 9, 8 and 5 steps. At the instant of a snapshot nothing is blended or
	// counted.
	if want := 8 * angleStep; math.Abs(p.AngleError.P50/want-1) > 0.016 {
		t.Errorf("median angle error %v deg, expected %v", p.AngleError.P50, want)
	}
	// Times are whole nanoseconds, in which the tank drives up to 0.0001 cm.
	if p := displayTable(t, src(), "receiver.interpolation", "hermite"); p.PositionError.Max > 2e-4 {
		t.Errorf("on a curve the position error is %v, expected 0", p.PositionError.Max)
	}
}

// The JSON has null for what a table does not have, and nothing for data that are not interpolated.
// Totals without a heading do not hold an assertion about it.
func TestTableErrorsThatDoNotApply(t *testing.T) {
	s := tankSchema(1)
	s.Fields = s.Fields[:2]
	p := displayTable(t, &pathTable{schema: s, fill: func(row []int32, _, n int) { row[0] = int32(n * n) }})
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(text); !strings.Contains(got, `"angle_error":null`) || !strings.Contains(got, `"position_error":{`) ||
		!strings.Contains(got, `"position_error_unit":"cm"`) || strings.Contains(got, "position_error_mm") {
		t.Error(got)
	}
	s = tankSchema(1)
	s.Fields = s.Fields[5:]
	p = displayTable(t, &pathTable{schema: s, fill: func(row []int32, _, n int) { row[0] = int32(n % 1000) }})
	if text, err = json.Marshal(p); err != nil || strings.Contains(string(text), "_error") {
		t.Errorf("%v, %s", err, text)
	}
	if names := figures.Keys(); !slices.Contains(names, "playout.position_error.p95") || !slices.Contains(names, "playout.angle_error.max") {
		t.Error("assertions cannot name the errors of tables")
	}
}
