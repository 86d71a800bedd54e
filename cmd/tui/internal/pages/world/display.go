package world

import (
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/playout"
)

// display is the state of the receiver's display: its delay and its starvation.
type display struct {
	starvedTicks, displayedTicks int           // display ticks of the last starvedPeriod
	starvedNow                   bool          // the newest display tick starved
	overNetwork                  bool          // its delay is a lower bound: the clocks are not synchronised, so the fastest packet is taken to need no time
	titleDelay                   time.Duration // the delay in the title, updated slowly to be readable
	advice                       string        // see panes.SmoothCommand; updated slowly, too
	worstDistance                float64       // the largest distance of a displayed thing from the sender's place within a second
}

// starvedPeriod is the time for which starvation is shown, as in the charts, because a single tick would be too short to see.
const starvedPeriod = 2 * time.Second

// observe updates the state from a view. The delays change only when a redraw is due.
func (d *display) observe(v room.View) {
	var delay time.Duration
	if pic := v.Snap.World; pic != nil {
		delay = pic.Behind
		d.starvedNow = pic.Starved
	}
	if f := v.Snap.Frames; f != nil {
		delay = displayAge(f)
		d.starvedNow = f.Starved
	}
	d.overNetwork = v.Snap.To != ""
	d.starvedNow = d.starvedNow && !d.overNetwork // the receiver's counts in the samples tell
	recent := meters.Sum(meters.Tail(v.ActiveLane().Samples, starvedPeriod))
	d.starvedTicks, d.displayedTicks = recent.Starved, recent.Displayed
	if v.RedrawDue || d.titleDelay == 0 {
		d.titleDelay = delay
		if d.isStarved() {
			d.advice = panes.SmoothCommand(v.ActiveLane(), v.Snap.Now, v.Cfg.Playout())
		}
	}
}

// bound is written before a delay that is a lower bound.
func (d *display) bound() string {
	if d.overNetwork {
		return "at least "
	}
	return ""
}

// displayAge returns how old the displayed data are. Data that the display interpolates are younger than the frame.
func displayAge(f *playout.Frames) time.Duration {
	if f.Next != nil {
		return f.Behind
	}
	return f.Age
}

// isStarved reports whether the display is starved, or was within starvedPeriod.
func (d *display) isStarved() bool { return d.starvedTicks > 0 || d.starvedNow }

// drawStarved draws a warning over a view if the display is starved, or was recently, and below it the delay with which it
// would not have been.
func (d *display) drawStarved(c *look.Canvas) {
	if !d.isStarved() {
		return
	}
	count := strconv.Itoa(d.starvedTicks) + " of " + strconv.Itoa(d.displayedTicks) + " frames"
	drawAcross(c, 1, "STARVED: "+count+" of the last 2 s found no newer snapshot", "STARVED: "+count+" in 2 s", "STARVED: "+count, "STARVED")
	if d.advice != "" {
		drawAcross(c, 2, d.advice+" would have been smooth for the last 10 s", "smooth in the last 10 s: "+d.advice, "smooth: "+d.advice, "")
	}
}

// drawAcross draws the first of texts that fits across row y of a framed canvas.
func drawAcross(c *look.Canvas, y int, texts ...string) {
	for _, text := range texts {
		if w := c.W - 2; look.TextWidth(text)+2 <= w {
			c.Text(1, y, look.Paused, look.PadRight(" "+text, w))
			return
		}
	}
}
