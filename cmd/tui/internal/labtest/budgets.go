package labtest

import (
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/view"
)

// WithBudgets returns a copy of a snapshot with a shadow for each policy of rows but the first, half of them with
// 24 kbit/s instead of 64. The error of each policy is a fixed multiple of that of the first, with some noise.
func WithBudgets(snap *engine.Snapshot) *engine.Snapshot {
	policies := view.Policies.Names()
	names := make([]string, len(policies)-1)
	for i := range names {
		names[i] = snap.Lanes[0].Encoder
	}
	out := WithShadows(snap, names...)
	for i := range out.Lanes {
		l := &out.Lanes[i]
		bps, millimetres := int64(64_000), int64(200+13*i)
		if i%2 == 1 {
			bps, millimetres = 24_000, int64(500+60*i)
		}
		l.Budget = endpoint.Budget{Bps: bps, Priority: view.Policies.Default(policies[i])}
		l.Params = "priority=" + policies[i]
		l.Samples = append([]meters.Sample{}, l.Samples...)
		for k := range l.Samples {
			const rows = 40
			noise := int64(k*(7+i)%11 - 5)
			l.Samples[k].View = meters.ViewSample{Bits: bps/10 - 200, Rows: rows, Error: rows * view.ErrorUnit * (millimetres + noise)}
		}
	}
	return out
}
