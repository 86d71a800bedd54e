package measure

import "wirelab/lossmodel"

// DelayLaw is how long packets take by latency and jitter alone, in milliseconds.
type DelayLaw struct {
	Mean, SD float64
	Lo, Hi   float64 // between which all delays lie that matter
	Rho      float64 // correlation with the next packet
}

// DelayLawOf returns the law of a delay in closed form; ok is false for a table in a file. What
// would come before it was sent takes no time.
func DelayLawOf(d *lossmodel.Delay) (law DelayLaw, ok bool) {
	latency, unit := float64(d.Latency)/millisecond, float64(d.Jitter)/millisecond
	if d.Jitter == 0 {
		return DelayLaw{Mean: latency, Lo: latency, Hi: latency}, true
	}
	jitter, ok := lawOfJitter(d)
	if !ok {
		return DelayLaw{}, false
	}
	law = DelayLaw{Lo: max(latency+jitter.lo*unit, 0), Hi: max(latency+jitter.hi*unit, 0), Rho: d.Correlation}
	law.Mean, law.SD = integrate(func(y float64) float64 { return jitter.cdf((y - latency) / unit) }, law.Lo, law.Hi, 4000)
	return law, true
}
