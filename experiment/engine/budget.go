package engine

import "time"

// budgetMeter counts for how long the payload of the last second exceeded the budget,
// sample by sample, from the first whole second on.
type budgetMeter struct {
	kbps float64 // now; 0: none

	ring      [time.Second / SamplePeriod]int64 // payload bits of the newest samples
	samples   int
	sum       int64
	budgeted, over int64 // samples that ended under a budget, and those of them that were over it
}

// close takes in a sample that ended.
func (b *budgetMeter) close(payloadBits int64) {
	at := b.samples % len(b.ring)
	b.sum += payloadBits - b.ring[at]
	b.ring[at] = payloadBits
	if b.samples++; b.kbps == 0 || b.samples < len(b.ring) {
		return
	}
	b.budgeted++
	if float64(b.sum)/1000 > b.kbps {
		b.over++
	}
}

// ratio returns the share of the time over budget; nil if there was no budget.
func (b *budgetMeter) ratio() *float64 {
	if b.budgeted == 0 {
		return nil
	}
	share := float64(b.over) / float64(b.budgeted)
	return &share
}
