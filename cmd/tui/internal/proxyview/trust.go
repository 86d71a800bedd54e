package proxyview

import (
	"fmt"
	"slices"

	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/trust"
	"wirelab/lossmodel/relay"
)

// Judge compares links with their settings: loss, delay and rate since each link was last set,
// with confidence intervals. Its zero value is ready to use.
type Judge struct {
	judge   trust.Verifier
	tooSlow [2]bool // directions whose delay was above its tolerance at the last comparison
}

// maxLinksJudged bounds the work: only the first links of a direction are compared.
const maxLinksJudged = 64

// delayTolerance returns how much longer than the delay of its link, set, a datagram may take on average, both in
// milliseconds. Beyond it the effect of the link is distorted. wasTooSlow is the previous result: the delay must then be
// within half of the tolerance.
func delayTolerance(set float64, wasTooSlow bool) float64 {
	tolerance := max(1, 0.05*set)
	if wasTooSlow {
		tolerance /= 2
	}
	return tolerance
}

// Checks compares the links of one direction with their settings. Loss and delay are those of all
// links together; the rate is that of the worst link. Links that sent nothing are ignored.
func (j *Judge) Checks(links []relay.LinkStatus, direction relay.Direction) []trust.Check {
	var stretches []meters.LinkStretch // what each link did since it was last set
	var worstRate *trust.Check
	fragmented := false
	for i := range links {
		link := &links[i]
		if link.Way != direction || link.Sent == 0 || len(stretches) == maxLinksJudged {
			continue
		}
		fragmented = fragmented || link.Fragmented > 0
		// The field is named Down in both directions: it is the link that the figures are about.
		stretches = append(stretches, meters.LinkStretch{Down: link.Spec, Fragments: 1, Sent: int64(link.Sent), Lost: int64(link.Lost), Queue: int64(link.Queue),
			Arrived: int64(link.Passed), Took: link.TotalDelay, Bits: int64(link.Bits), From: link.First, Until: link.Until})
		if link.Spec.Rate.BitsPerSecond == 0 { // unlimited
			continue
		}
		for _, c := range j.judge.Checks(stretches[len(stretches)-1:]) {
			if c.Name == "rate" && (worstRate == nil || worstRate.OK && !c.OK || worstRate.OK == c.OK && c.Measured > worstRate.Measured) {
				worstRate = &c
			}
		}
	}
	checks := slices.DeleteFunc(j.judge.Checks(stretches), func(c trust.Check) bool { return c.Name == "rate" })
	for i := range checks {
		c := &checks[i]
		switch {
		case c.Name == "loss" && fragmented: // the loss depends on the number of fragments of each datagram
			c.Known, c.OK = false, true
		case c.Name == "delay":
			c.Max += delayTolerance(c.Set, j.tooSlow[direction]) // for the proxy's own timers
			j.tooSlow[direction] = c.Known && c.Measured > c.Max
			c.OK = !c.Known || c.Measured >= c.Min && c.Measured <= c.Max
		}
	}
	if worstRate != nil {
		checks = append(checks, *worstRate)
	}
	return checks
}

// Deviations describes each check of links that failed; nil if none did.
func (j *Judge) Deviations(links []relay.LinkStatus) (list []string) {
	for _, direction := range []relay.Direction{relay.Up, relay.Down} {
		for _, c := range j.Checks(links, direction) {
			if !c.OK {
				list = append(list, fmt.Sprintf("%s: %s set %s, measured %s %s", direction, c.Name, panes.FormatCheck(&c, c.Set), panes.FormatCheck(&c, c.Measured), c.Unit))
			}
		}
	}
	return list
}
