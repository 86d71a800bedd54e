//go:build !amd64 || purego

package rows

const hasVectors = false

func nearestAVX2(*uint8, *[maxAxes]int32, int, *moverLanes, int) {}
