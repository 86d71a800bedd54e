//go:build !amd64 || purego

package states

const hasVectors = false

func learnVectors(*[lanes]int16, *[lanes]int32, int, int32, uint32) {}
