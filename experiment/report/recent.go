package report

import (
	"time"

	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
)

// meanSamples is the number of samples in two seconds, over which rates are averaged.
const meanSamples = int(2 * time.Second / meters.SamplePeriod)

// recentPayload is the payload of the newest meanSamples samples.
type recentPayload struct {
	periods [meanSamples]time.Duration // sample number k is at k % meanSamples, as in bits
	bits    [meanSamples]int64
	count   int           // samples so far
	end     time.Duration // of the newest sample
}

// add adds a sample and returns the length of its period, which is shorter for the last sample of a run. The
// first sample of a live session's report may be later than 0.
func (r *recentPayload) add(s *meters.Sample) (period time.Duration) {
	if r.count == 0 {
		r.end = (s.T - 1).Truncate(meters.SamplePeriod) // -1 because s.T may be a multiple of SamplePeriod
	}
	period = s.T - r.end
	r.end = s.T
	r.periods[r.count%meanSamples] = period
	r.bits[r.count%meanSamples] = s.PayloadBits
	r.count++
	return period
}

// payloadKbps returns the mean payload of the samples in kbit/s.
func (r *recentPayload) payloadKbps() float64 {
	var bits int64
	var seconds time.Duration
	for i := range r.bits {
		bits += r.bits[i]
		seconds += r.periods[i]
	}
	return figures.RatioOrZero(float64(bits)/1000, seconds.Seconds())
}
