package netem

import (
	_ "embed"
	"encoding/binary"
	"math"
	"sync"
	"time"
)

// tableBytes contains the tables of all distributions except uniform, as little-endian int16.
// TestTablesFile generates it.
//
//go:embed tables.bin
var tableBytes []byte

// tables returns the tables, indexed by distribution minus normal, the first distribution with a
// table. They are decoded once.
var tables = sync.OnceValue(func() (t [numDistributions - normal]*[4096]int16) {
	for i := range t {
		t[i] = new([4096]int16)
		size := binary.Size(t[i])
		if _, err := binary.Decode(tableBytes[i*size:], binary.LittleEndian, t[i]); err != nil {
			panic("netem: " + err.Error())
		}
	}
	return t
})

// tableUnit is the value that stands for one jitter in a table.
const tableUnit = 8192

// kernelTime converts a time to nanoseconds as the kernel receives it: tc passes ticks of 64 ns,
// rounded down.
func kernelTime(t time.Duration) int64 {
	const nsPerTick = 64
	ticks := int64(t/time.Microsecond) * 125 / 8 // 1000/64 ticks per microsecond
	return ticks * nsPerTick
}

// delayDist is a delay distribution with a mean, in nanoseconds.
type delayDist struct {
	mean  int64
	sigma int64        // the jitter, at most 2^31-1
	table *[4096]int16 // nil for a uniform distribution
}

// newDelayDist returns the distribution d with the given mean and jitter (sigma) in nanoseconds. The
// kernel limits the jitter to 32 bits.
func newDelayDist(mean, sigma int64, d distribution) delayDist {
	s := delayDist{mean: mean, sigma: min(sigma, math.MaxInt32)}
	if normal <= d && d < numDistributions {
		s.table = tables()[d-normal]
	}
	return s
}

// draw returns the delay in nanoseconds for a random word u, with the kernel's integer arithmetic.
// It may be negative if the jitter exceeds the mean. sigma must not be 0 in a uniform distribution.
func (s *delayDist) draw(u uint32) int64 {
	if s.table == nil {
		return int64(u%(2*uint32(s.sigma))) + s.mean - s.sigma
	}
	// mean + sigma*entry/tableUnit, rounded to nearest. sigma is split into multiples of tableUnit and a
	// remainder, so that the product does not overflow.
	entry := int64(s.table[u%uint32(len(s.table))])
	scaled := s.sigma % tableUnit * entry
	if scaled >= 0 {
		scaled += tableUnit / 2
	} else {
		scaled -= tableUnit / 2
	}
	return scaled/tableUnit + s.sigma/tableUnit*entry + s.mean
}
