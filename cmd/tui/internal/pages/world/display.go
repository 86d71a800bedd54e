package world

import (
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine/playout"
)

// display is the state of the receiver's display: its delay and its starvation.
type display struct {
	starvedTicks, displayedTicks int           // display ticks of the last starvedSamples samples
	starvedNow                   bool          // the newest display tick starved
	titleDelay                   time.Duration // the delay in the title, updated slowly to be readable
	worstDistance                float64       // the largest distance of a displayed thing from the sender's place within a second
}

// starvedSamples is the number of samples for which starvation is shown, because a single tick would be
// too short to see.
const starvedSamples = 5

// observe updates the state from a view. The delay changes only when a redraw is due.
func (d *display) observe(v room.View) {
	var delay time.Duration
	if pic := v.Snap.World; pic != nil {
		delay = v.Snap.Now - pic.Moment // Moment is when the displayed state was at the sender
		d.starvedNow = pic.Starved
	}
	if f := v.Snap.Frames; f != nil {
		delay = displayAge(f)
		d.starvedNow = f.Starved
	}
	if v.RedrawDue || d.titleDelay == 0 {
		d.titleDelay = delay
	}
	d.starvedTicks, d.displayedTicks = 0, 0
	samples := v.ActiveLane().Samples
	for i := max(len(samples)-starvedSamples, 0); i < len(samples); i++ {
		d.starvedTicks += samples[i].Starved
		d.displayedTicks += samples[i].Displayed
	}
}

// displayAge returns how old the displayed data are. Data that the display interpolates are younger than the frame.
func displayAge(f *playout.Frames) time.Duration {
	if f.Next != nil {
		return f.Behind
	}
	return f.Age
}

// drawStarved draws a warning over a view if the display is starved, or was recently.
func (d *display) drawStarved(c *look.Canvas) {
	if d.starvedTicks == 0 && !d.starvedNow {
		return
	}
	count := strconv.Itoa(d.starvedTicks) + " of the last " + strconv.Itoa(d.displayedTicks) + " frames"
	if d.starvedTicks == 0 {
		count = "now"
	}
	for _, text := range []string{" STARVED: no newer snapshot, " + count + " ", " STARVED " + count + " ", " STARVED "} {
		if look.TextWidth(text) <= c.W-4 {
			c.Text((c.W-look.TextWidth(text))/2, 1, look.Paused, text)
			return
		}
	}
}
