//go:build !amd64 || purego

package rows

const hasVectors = false

func nearestVectors([]uint8, [][maxPlace]int32, *lanes, int) {}
