package world

import (
	"math"
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
)

// display is how the receiver's display fares: how far behind it is, and whether
// it had nothing to go on to.
type display struct {
	behind         time.Duration
	starved, shown int // display ticks of the last samples
	now            bool
	running        bool
	settled        time.Duration // what the heading says of behind: a figure that flickers cannot be read
	age            []look.Span   // of what it showed, over the whole run
}

// starvedSpan is how many samples a starvation stays on the screen: a single tick
// of it is over before anybody sees it.
const starvedSpan = 5

func (d *display) observe(v room.View) {
	pic := v.Snap.World
	d.running, d.now = pic.Shown != nil, pic.Starved
	d.behind = v.Snap.Now - pic.Moment
	if v.Slow || d.settled == 0 {
		d.settled, d.age = d.behind, panes.AgeSpans(v.Lane())
	}
	d.starved, d.shown = 0, 0
	samples := v.Lane().Samples
	for i := max(len(samples)-starvedSpan, 0); i < len(samples); i++ {
		d.starved += samples[i].Starved
		d.shown += samples[i].Displayed
	}
}

// heading says how far behind the display is.
func (d *display) heading(room int) []look.Span {
	if !d.running {
		return nil
	}
	ms := strconv.FormatInt(d.settled.Milliseconds(), 10)
	behind := []look.Span{look.Value.Span(ms), look.Dim.Span(" ms behind")}
	aged := func(words string) []look.Span { return append(append(behind[:2:2], look.Dim.Span(words)), d.age...) }
	return look.Fit(room, aged(" the sender; age "), aged("; age "), []look.Span{look.Value.Span(ms), look.Dim.Span(" ms behind the sender")},
		[]look.Span{look.Value.Span(ms), look.Dim.Span(" ms behind")}, []look.Span{look.Value.Span(ms), look.Dim.Span(" ms")})
}

// stamp says over a view that the display starves, or has just done.
func (d *display) stamp(c *look.Canvas, th *look.Theme) {
	if !d.running || d.starved == 0 && !d.now {
		return
	}
	count := strconv.Itoa(d.starved) + " of the last " + strconv.Itoa(d.shown) + " frames"
	if d.starved == 0 {
		count = "now"
	}
	ways := []string{" STARVED: nothing to go on to, " + count + " ", " STARVED " + count + " ", " STARVED "}
	for _, text := range ways {
		if look.TextWidth(text) <= c.W-4 {
			c.Text((c.W-look.TextWidth(text))/2, 1, look.Paused, text)
			return
		}
	}
}

// floorTo rounds down to a multiple of step.
func floorTo(v, step float64) float64 { return math.Floor(v/step) * step }
