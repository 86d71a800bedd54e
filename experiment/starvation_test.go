package experiment

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
)

// The link of the presets: losses are independent, and jitter is uniform between 0
// and jitterWidth.
const (
	lossShare   = 0.05
	jitterWidth = 2 * 16_667 * time.Microsecond
)

// closedFormStarvation returns the share of starved display ticks in closed form. A tick is starved
// if all snapshots from the displayed time on are missing. A snapshot is missing if it was lost, or
// if its jitter exceeds its age. The phase between display and sender is uniform.
//
// Ages count from the receiver's estimate of the minimum delay. That exceeds the true
// minimum by the least jitter of the packets in the estimation window of five to ten
// seconds.
func closedFormStarvation(rate int, delay time.Duration) float64 {
	const shortest = 50*time.Millisecond - jitterWidth/2
	least := jitterWidth / time.Duration(rate*15/2)
	const phases = 1000
	total := 0.0
	for phase := range phases {
		missing := 1.0
		for k := 0; ; k++ {
			age := (time.Duration(phase)*time.Second/phases+time.Duration(k)*time.Second)/time.Duration(rate) - shortest
			if age > delay+least {
				break
			}
			missing *= 1 - (1-lossShare)*max(0, min(1, float64(age)/float64(jitterWidth)))
		}
		total += missing
	}
	return total / phases
}

// The share of starved ticks on a link with losses and jitter agrees with the closed
// form, for both rates and every delay of the presets.
func TestStarvationAgreesWithClosedForm(t *testing.T) {
	length := 20 * time.Minute
	if !testkit.Thorough() || labtest.RaceEnabled {
		length = 2 * time.Minute
	}
	for _, name := range []string{"playout-10", "playout-60"} {
		c := must(LoadPreset(name))
		for _, v := range c.Sweep[1].Values {
			d := c.Clone()
			d.Sweep, d.Duration = nil, length
			noError(t, d.Set("receiver.playout_delay", v))
			s := must(engine.NewSessionFromSource(d, labtest.NewCubeSource(1, 1, -1, 3), engine.Options{KeepSamples: 10}))
			noError(t, s.RunUntil(length))
			got := s.View(0).Lanes[0].Totals.Playout
			want := closedFormStarvation(d.Sender.RateHz, d.Receiver.Playout)
			// Starved ticks come in runs of up to an interval, so there are fewer
			// independent ones.
			n := float64(got.Displayed) / float64(60/d.Sender.RateHz)
			slack := 0.02*want + 4*math.Sqrt(want/n) + 1/n
			if math.Abs(got.StarvedRatio.Or(-1)-want) > slack {
				t.Errorf("%s at %v: %.4f %% starved, reckoned %.4f ± %.4f", name, v, 100*got.StarvedRatio.Or(-1), 100*want, 100*slack)
			}
			t.Logf("%s at %v: %.4f %% starved, reckoned %.4f", name, v, 100*got.StarvedRatio.Or(-1), 100*want)
		}
	}
}

// The claim of the article, with losses of exactly two consecutive packets and a display of varying
// phase. A delay of three intervals plus the jitter is enough, so 350 and 85 ms are. A few
// milliseconds less are not, and the claimed delay is not enough for more consecutive losses.
func TestDelayForTwoConsecutiveLosses(t *testing.T) {
	starved := func(rate, row int, delay time.Duration) (share float64, freeze float64) {
		c := config.Default()
		c.Sender.RateHz, c.Receiver.Playout, c.Receiver.DisplayMilliHz = rate, delay, 59_900
		pattern := "pattern bits=" + strings.Repeat("0", 20-row) + strings.Repeat("1", row)
		noError(t, errors.Join(c.Set("profile", "fiedler"), c.Set("down.loss", pattern)))
		s := must(engine.NewSessionFromSource(c, labtest.NewCubeSource(1, 1, -1, 3), engine.Options{KeepSamples: 10}))
		noError(t, s.RunUntil(10*time.Minute))
		p := s.View(0).Lanes[0].Totals.Playout
		return p.StarvedRatio.Or(-1), p.LongestFreezeMS.Or(-1)
	}
	for _, c := range []struct {
		rate    int
		claimed time.Duration
	}{{10, 350 * time.Millisecond}, {60, 85 * time.Millisecond}} {
		interval := time.Second / time.Duration(c.rate)
		needed := 3*interval + jitterWidth
		if needed > c.claimed || c.claimed > needed+time.Second/60 {
			t.Fatalf("%d Hz: %v are claimed, by the formula %v", c.rate, c.claimed, needed)
		}
		for _, delay := range []time.Duration{c.claimed, needed} {
			if share, _ := starved(c.rate, 2, delay); share != 0 {
				t.Errorf("%d Hz, %v: %g starved by two losses in a row", c.rate, delay, share)
			}
		}
		short := needed - 5*time.Millisecond
		if share, freeze := starved(c.rate, 2, short); share == 0 || freeze > 2*1000.0/60 {
			t.Errorf("%d Hz, %v: %g starved by two losses in a row, for %g ms", c.rate, short, share, freeze)
		}
		row := 3
		for time.Duration(row+1)*interval+jitterWidth-time.Second/60 < c.claimed {
			row++
		}
		if share, _ := starved(c.rate, row, c.claimed); share == 0 {
			t.Errorf("%d Hz, %v: %d losses in a row starved nothing", c.rate, c.claimed, row)
		}
	}
}
