package ui

// light points at a place of the page: its border and title look as if it had the
// keys, and on a small screen it is the one in sight.
func (p *livePage) light(s spot) {
	p.lit, p.charts.lit, p.charts.brief = nil, -1, s != nowhere
	p.slots[atCharts].fresh = false
	switch s {
	case onBandwidth, onRatio, onFailures:
		p.lit, p.charts.lit = p.slots[atCharts], int(s-onBandwidth)
	case onPackets:
		p.lit = p.slots[atPackets]
	}
	if p.lit == nil {
		return
	}
	for i, q := range p.slots {
		if q == p.lit && !wide(p.w, p.h) {
			p.at = i
		}
	}
}
