package testkit

import (
	"cmp"
	"runtime"
)

// HeapBytes returns the size of all objects in use, after a garbage collection.
func HeapBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Least returns the first of three measurements that is at most limit, or else the least. It is for
// measurements of allocations, to which other goroutines, such as those of the garbage collector, may add.
func Least[T cmp.Ordered](limit T, measure func() T) T {
	least := measure()
	for range 2 {
		if least <= limit {
			break
		}
		least = min(least, measure())
	}
	return least
}
