package testkit

import "runtime"

// HeapBytes returns the size of all objects in use, after a garbage collection.
func HeapBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
