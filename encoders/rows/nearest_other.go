//go:build !amd64 || purego

package rows

const hasVectors = false

func nearestAVX2(*uint8, *[maxPlace]int32, int, *lanes, int) {}
