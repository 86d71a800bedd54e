package netem

import (
	_ "embed"
	"encoding/binary"
	"math"
	"sync"
	"time"
)

// tableBytes is the output of TestTablesFile: the tables of all distributions but
// uniform, as little-endian int16.
//
//go:embed tables.bin
var tableBytes []byte

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

// tableUnit is one jitter in a table.
const tableUnit = 8192

// kernelTime is what the kernel makes of a time: tc hands it over in ticks of 64
// nanoseconds, rounded down.
func kernelTime(t time.Duration) int64 {
	ticks := int64(t/time.Microsecond) * 125 / 8
	return ticks * 64
}

// spread is a mean and what is around it, in nanoseconds.
type spread struct {
	mean  int64
	sigma int64 // at most 2^31-1
	table *[4096]int16
}

func newSpread(mean, sigma int64, d distribution) spread {
	s := spread{mean: mean, sigma: min(sigma, math.MaxInt32)}
	if normal <= d && d < numDistributions {
		s.table = tables()[d-normal]
	}
	return s
}

// at returns the time that a word stands for, in the kernel's integers: below
// zero if the spread is wider than the mean.
func (s *spread) at(u uint32) int64 {
	if s.table == nil {
		return int64(u%(2*uint32(s.sigma))) + s.mean - s.sigma
	}
	t := int64(s.table[u%uint32(len(s.table))])
	x := s.sigma % tableUnit * t
	if x >= 0 {
		x += tableUnit / 2
	} else {
		x -= tableUnit / 2
	}
	return x/tableUnit + s.sigma/tableUnit*t + s.mean
}
