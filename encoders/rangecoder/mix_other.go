//go:build !amd64 || purego

package rangecoder

const hasVectors = false

func codeAVX2(*Weights, *Coder, *inputs, int, int32) int { return -1 }

func mixAVX2(*Mixer, *Weights, uint32, int, uint64) int { return -1 }

func learnAVX2(*[maxStateInputs]int16, *[maxStateInputs]int32, int, int32, uint32) {}
