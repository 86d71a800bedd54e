package proxyview

import (
	"fmt"
	"slices"

	"wirelab/experiment/engine/meters"
	"wirelab/experiment/trust"
	"wirelab/internal/units"
	"wirelab/lossmodel/relay"
)

// Judge says whether links did what was asked of them: the share lost, the delay and the rate
// since each was set last, with what chance allows, and the lateness of the proxy itself. Its
// zero value is ready.
type Judge struct{ judge trust.Judge }

// mostJudged is how many links of a direction are looked at.
const mostJudged = 64

// tolerated is how much longer than the link decided a datagram may take on average, in
// milliseconds, as relay.Flow.Deviations has it for single ones.
const tolerated = 1

// Checks judges the links of one direction together; the rate is that of the worst of them.
func (j *Judge) Checks(all []relay.LinkStatus, way relay.Way) []trust.Check {
	var parts []meters.LinkStretch
	var rate *trust.Check
	cut := false
	for i := range all {
		a := &all[i]
		if a.Way != way || a.Sent == 0 || len(parts) == mostJudged {
			continue
		}
		cut = cut || a.Cut > 0
		parts = append(parts, meters.LinkStretch{Down: a.Spec, Fragments: 1, Sent: int64(a.Sent), Lost: int64(a.Lost), Queue: int64(a.Queue),
			Arrived: int64(a.Left), Took: a.Took, Bits: int64(a.Bits), From: a.First, Until: a.Until})
		if a.Spec.Rate.BitsPerSecond == 0 {
			continue
		}
		for _, c := range j.judge.Checks(parts[len(parts)-1:]) {
			if c.Name == "rate" && (rate == nil || rate.OK && !c.OK || rate.OK == c.OK && c.Measured > rate.Measured) {
				rate = &c
			}
		}
	}
	list := slices.DeleteFunc(j.judge.Checks(parts), func(c trust.Check) bool { return c.Name == "rate" })
	for i := range list {
		c := &list[i]
		switch {
		case c.Name == "loss" && cut: // how many are lost depends on how many pieces each is cut into
			c.Known, c.OK = false, true
		case c.Name == "delay":
			c.Most += tolerated // the proxy is no more exact than that
			c.OK = !c.Known || c.Measured >= c.Least && c.Measured <= c.Most
		}
	}
	if rate != nil {
		list = append(list, *rate)
	}
	return list
}

// Deviations describes in what the links did not do what they are set to; nil if in nothing.
func (j *Judge) Deviations(links []relay.LinkStatus) (list []string) {
	for _, way := range []relay.Way{relay.Up, relay.Down} {
		for _, c := range j.Checks(links, way) {
			if !c.OK {
				list = append(list, fmt.Sprintf("%s: %s asked %s, did %s %s", way, c.Name, figure(&c, c.Set), figure(&c, c.Measured), c.Unit))
			}
		}
	}
	return list
}

// figure writes a figure as exactly as it means something.
func figure(c *trust.Check, v float64) string {
	return units.Fixed(v, map[string]int{"loss": 2, "delay": 2}[c.Name])
}
