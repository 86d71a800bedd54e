//go:build !race

package labtest

const RaceEnabled = false
