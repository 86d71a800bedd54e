package ui

import (
	"math"
	"strconv"
	"time"
)

// display is how the receiver's display fares: how far behind it is, and whether
// it had nothing to go on to.
type display struct {
	behind         time.Duration
	starved, shown int // display ticks of the last samples
	now            bool
	running        bool
	settled        time.Duration // what the heading says of behind: a figure that flickers cannot be read
}

// starvedSpan is how many samples a starvation stays on the screen: a single tick
// of it is over before anybody sees it.
const starvedSpan = 5

func (d *display) observe(v sight) {
	pic := v.snap.World
	d.running, d.now = pic.Shown != nil, pic.Starved
	d.behind = v.snap.Now - pic.Moment
	if v.slow || d.settled == 0 {
		d.settled = d.behind
	}
	d.starved, d.shown = 0, 0
	samples := v.lane().Samples
	for i := max(len(samples)-starvedSpan, 0); i < len(samples); i++ {
		d.starved += samples[i].Starved
		d.shown += samples[i].Displayed
	}
}

// heading says how far behind the display is.
func (d *display) heading(room int) []span {
	if !d.running {
		return nil
	}
	ms := strconv.FormatInt(d.settled.Milliseconds(), 10)
	return fit(room, []span{{inkValue, ms}, {inkDim, " ms behind the sender"}}, []span{{inkValue, ms}, {inkDim, " ms behind"}}, []span{{inkValue, ms}, {inkDim, " ms"}})
}

// stamp says over a view that the display starves, or has just done.
func (d *display) stamp(c *canvas, th *theme) {
	if !d.running || d.starved == 0 && !d.now {
		return
	}
	count := strconv.Itoa(d.starved) + " of the last " + strconv.Itoa(d.shown) + " frames"
	if d.starved == 0 {
		count = "now"
	}
	ways := []string{" STARVED: nothing to go on to, " + count + " ", " STARVED " + count + " ", " STARVED "}
	for _, text := range ways {
		if textWidth(text) <= c.w-4 {
			c.text((c.w-textWidth(text))/2, 1, inkPaused, text)
			return
		}
	}
}

// floorTo rounds down to a multiple of step.
func floorTo(v, step float64) float64 { return math.Floor(v/step) * step }
