package engine

import (
	"time"

	"wirelab/experiment/figures"
	"wirelab/internal/units"
	"wirelab/lossmodel/traffic"
)

// setTraffic makes the flows of the current configuration share the downlink from now on. Each lane has its
// own flows, because they respond to its queue.
func (l *lane) setTraffic(now time.Duration, plan traffic.Plan) {
	if text := plan.String(); text != l.traffic {
		l.traffic = text
		l.paths.downLink.SetTraffic(now, plan)
	}
}

// trafficFigures returns the figures of the flows on the downlink at now; nil if there were none.
func (l *lane) trafficFigures(now time.Duration) (list []figures.Flow) {
	for _, f := range l.paths.downLink.Traffic() {
		until := f.StoppedBy(now)
		active := max(0, until-f.Started)
		list = append(list, figures.Flow{
			Kind: f.Kind.String(), Label: f.Kind.Label(), StartS: f.Started.Seconds(), StopS: until.Seconds(),
			Mbps:  figures.RatioFigure(float64(f.Bytes)*8/1e6, active.Seconds()),
			RTTMS: figures.RatioFigure(units.Milliseconds(f.RTT), float64(f.Acked)),
			Sent:  f.Sent, Lost: f.Lost, Retransmit: f.Retransmitted, Timeouts: f.Timeouts, SpuriousRTOs: f.Spurious,
		})
	}
	return list
}
