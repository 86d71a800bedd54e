package netem

//go:generate go run gen_tables.go

import (
	"math"
	"time"
)

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

func newSpread(mean, sigma int64, d Distribution) spread {
	s := spread{mean: mean, sigma: min(sigma, math.MaxInt32)}
	switch d {
	case Normal:
		s.table = &normalTable
	case Pareto:
		s.table = &paretoTable
	case ParetoNormal:
		s.table = &paretoNormalTable
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
