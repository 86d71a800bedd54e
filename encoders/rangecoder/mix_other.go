//go:build !amd64 || purego

package rangecoder

const hasVectors = false

func mixAVX2(*Mixer, *StateCounter, *mixerWeights, int, int32, uint32) int { return -1 }
