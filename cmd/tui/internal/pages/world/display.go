package world

import (
	"math"
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
)

// display is the state of the receiver's display: its delay and its starvation.
type display struct {
	delay                        time.Duration
	starvedTicks, displayedTicks int           // display ticks of the last starvedSamples samples
	starvedNow                   bool          // the newest display tick starved
	running                      bool          // the display shows something
	displayedDelay               time.Duration // the delay in the heading, updated slowly to be readable
	age                          []look.Span   // age of the displayed data, over the whole run
}

// starvedSamples is the number of samples for which starvation is shown, because a single tick would be
// too short to see.
const starvedSamples = 5

// observe updates the state from a view. The displayed delay changes only when a redraw is due.
func (d *display) observe(v room.View) {
	pic := v.Snap.World
	d.running, d.starvedNow = pic.Shown != nil, pic.Starved
	d.delay = v.Snap.Now - pic.Moment // Moment is when the displayed state was at the sender
	if v.RedrawDue || d.displayedDelay == 0 {
		d.displayedDelay, d.age = d.delay, panes.AgeSpans(v.ActiveLane())
	}
	d.starvedTicks, d.displayedTicks = 0, 0
	samples := v.ActiveLane().Samples
	for i := max(len(samples)-starvedSamples, 0); i < len(samples); i++ {
		d.starvedTicks += samples[i].Starved
		d.displayedTicks += samples[i].Displayed
	}
}

// heading returns the delay of the display and, if there is room, the age of its data.
func (d *display) heading(maxWidth int) []look.Span {
	if !d.running {
		return nil
	}
	ms := strconv.FormatInt(d.displayedDelay.Milliseconds(), 10)
	behind := []look.Span{look.Value.Span(ms), look.Dim.Span(" ms behind")}
	aged := func(words string) []look.Span { return append(append(behind[:2:2], look.Dim.Span(words)), d.age...) }
	return look.Fit(maxWidth, aged(" the sender; age "), aged("; age "), []look.Span{look.Value.Span(ms), look.Dim.Span(" ms behind the sender")},
		[]look.Span{look.Value.Span(ms), look.Dim.Span(" ms behind")}, []look.Span{look.Value.Span(ms), look.Dim.Span(" ms")}, nil)
}

// drawStarved draws a warning over a view if the display is starved, or was recently.
func (d *display) drawStarved(c *look.Canvas, th *look.Theme) {
	if !d.running || d.starvedTicks == 0 && !d.starvedNow {
		return
	}
	count := strconv.Itoa(d.starvedTicks) + " of the last " + strconv.Itoa(d.displayedTicks) + " frames"
	if d.starvedTicks == 0 {
		count = "now"
	}
	texts := []string{" STARVED: no newer snapshot, " + count + " ", " STARVED " + count + " ", " STARVED "}
	for _, text := range texts {
		if look.TextWidth(text) <= c.W-4 {
			c.Text((c.W-look.TextWidth(text))/2, 1, look.Paused, text)
			return
		}
	}
}

// floorTo rounds down to a multiple of step.
func floorTo(v, step float64) float64 { return math.Floor(v/step) * step }
