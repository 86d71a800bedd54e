//go:build !linux

package relay

func newTimer() timer { return newCoarseTimer() }
