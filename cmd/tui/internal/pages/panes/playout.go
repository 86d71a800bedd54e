package panes

import (
	"fmt"
	"math"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/engine/playout"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// Playout shows charts of the receiver's display over time: the age of the displayed data,
// starvation, position and orientation errors of cubes, position and angle errors of tables, and late snapshots. It has
// the same time axis as type Charts.
type Playout struct {
	Charts
	cubes bool               // the data are cubes, which have positions and orientations
	units *meters.ErrorUnits // of the errors of a table; nil for other data
}

// NewPlayout returns the charts of the display of data with the given schema, which may be nil.
func NewPlayout(s *frame.Schema) *Playout {
	p := &Playout{Charts: Charts{Selected: -1}}
	if s == nil {
		return p
	}
	p.cubes = frame.IsCubes(s)
	if c := playout.FindColumns(s); c != nil {
		p.units = c.Units()
	}
	return p
}

func (p *Playout) Name() string { return "Playout" }

// minPlayoutWidth is the minimum width of a chart, so that its time axis has a label.
const minPlayoutWidth = 38

// playoutCharts returns the charts that apply to the data, the most important first.
func (p *Playout) playoutCharts() []TimeChart[meters.Sample] {
	age := TimeChart[meters.Sample]{Title: "Age ms", Floor: 100,
		Lines: []TimeLine[meters.Sample]{{Name: "max, 2 s", Style: look.Payload, Reduce: chart.Max, Value: oldest}}}
	starvation := TimeChart[meters.Sample]{Title: "Starved %", Floor: 10, Decimals: 1, Lines: []TimeLine[meters.Sample]{{Style: look.Warn, Value: starved}}}
	late := TimeChart[meters.Sample]{Title: "Late/s", Floor: 4, Decimals: 1, After: totalLegend(p.Lane.Totals.Playout.Late),
		Lines: []TimeLine[meters.Sample]{{Style: look.Late,
			Value: func(s *meters.Sample) (num, den float64) { return float64(s.Late), s.Width.Seconds() }}}}
	all := []TimeChart[meters.Sample]{age, starvation}
	if p.Lane.Totals.Remote != nil { // without synchronised clocks the age is unknown
		all = all[1:]
	}
	switch {
	case p.cubes:
		return append(all,
			maxChart("Position error mm", 10, 1, look.Mark, func(s *meters.Sample) float64 { return s.PositionErrorMM }), late,
			maxChart("Rotation error deg", 1, 1, look.Ratio, func(s *meters.Sample) float64 { return s.OrientationErrorDeg }))
	case p.units == nil:
		return append(all, late)
	}
	if p.units.HasPositions {
		all = append(all, maxChart("Position error "+p.units.Position, 0, Significant, look.Mark, func(s *meters.Sample) float64 { return s.PositionError }))
	}
	if p.units.HasAngles {
		all = append(all, maxChart("Angle error "+p.units.Angle, 0, Significant, look.Ratio, func(s *meters.Sample) float64 { return s.AngleError }))
	}
	return append(all, late)
}

// maxChart returns a chart of the largest values of a line. title ends with the unit, which may be empty.
func maxChart(title string, floor float64, decimals int, style look.Style, value func(*meters.Sample) float64) TimeChart[meters.Sample] {
	return TimeChart[meters.Sample]{Title: strings.TrimSpace(title), Floor: floor, Decimals: decimals, Lines: []TimeLine[meters.Sample]{
		{Name: "max, 2 s", Style: style, Reduce: chart.Max, Value: func(s *meters.Sample) (num, den float64) { return value(s), 1 }}}}
}

// oldest returns the largest age of the displayed state in ms.
func oldest(s *meters.Sample) (num, den float64) {
	return units.Milliseconds(s.Oldest), float64(min(s.Aged, 1))
}

// starved returns the percentage of display ticks for which no newer snapshot had arrived.
func starved(s *meters.Sample) (num, den float64) {
	return 100 * float64(s.Starved), float64(s.Displayed)
}

// Draw implements room.Pane. It draws the charts of the active encoder in as many columns as fit, the most important in
// the first row.
func (p *Playout) Draw(c *look.Canvas, th *look.Theme, _ bool) {
	list := p.playoutCharts()
	columns := min(max(c.W/minPlayoutWidth, 1), len(list))
	t := p.samples()
	t.Shadows = nil
	c.Split(columns, func(i int, side *look.Canvas) {
		var column []TimeChart[meters.Sample]
		for ; i < len(list); i += columns {
			column = append(column, list[i])
		}
		t.Draw(side, th, column)
	})
}

// smoothPeriod is the period of SmoothDelay: that of the clock offset of a fixed playout delay, at its longest.
const smoothPeriod = 10 * time.Second

// SmoothDelay returns the least fixed playout delay, in whole milliseconds, with which the display of a lane would not have
// starved in the last smoothPeriod: a snapshot is displayed until the next newer one arrives. It is 0 if too few packets
// arrived, or if the present delay is not shorter.
func SmoothDelay(l *engine.Lane, now, present time.Duration) time.Duration {
	fastest, longest, newest := time.Duration(math.MaxInt64), time.Duration(0), time.Duration(-1)
	for n := l.RecordsUntil(now - smoothPeriod); n < l.EndOfRecords(); n++ {
		r := l.Record(n)
		if r.Outcome != packetlog.Decoded || r.Arrived > now {
			continue
		}
		if newest >= 0 {
			longest = max(longest, r.Arrived-newest)
		}
		fastest, newest = min(fastest, r.Arrived-r.Sent), r.Sent
	}
	if longest-fastest <= present {
		return 0
	}
	return (longest - fastest + time.Millisecond - 1).Truncate(time.Millisecond)
}

// SmoothCommand returns the command that sets the delay of SmoothDelay; "" if none would help.
func SmoothCommand(l *engine.Lane, now time.Duration, present playout.Timing) string {
	delay := SmoothDelay(l, now, present.Delay)
	if delay == 0 {
		return ""
	}
	return fmt.Sprintf("/playout %dms", delay.Milliseconds())
}

// Starvation describes why the display of a lane starved in the last two seconds, and what would have helped; "" if it did
// not starve. A fixed delay below the time between two snapshots starves it even if all arrive in time.
func Starvation(l *engine.Lane, now time.Duration, cfg *config.Config) (cause, advice string) {
	s := meters.Sum(meters.Tail(l.Samples, room.RecentSpan))
	if s.Starved == 0 {
		return "", ""
	}
	cause = words.Count(s.Late, "snapshot") + " late, " + words.Count(s.Lost, "packet") + " lost"
	present, interval := cfg.Playout(), cfg.SendInterval()
	if present.IsFixed() && present.Delay < interval {
		cause = fmt.Sprintf("the playout delay of %s ms is less than the %s ms between two snapshots",
			units.Trimmed(units.Milliseconds(present.Delay), 1), units.Trimmed(units.Milliseconds(interval), 1))
	}
	if command := SmoothCommand(l, now, present); command != "" {
		advice = command + " would have been smooth for the last 10 s."
	}
	return fmt.Sprintf("In the last 2 s the display found no newer snapshot for %d of %s: %s. ",
		s.Starved, words.Count(s.Displayed, "frame"), cause), advice
}
