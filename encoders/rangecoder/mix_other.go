//go:build !amd64 || purego

package rangecoder

const hasVectors = false

func codeVectors(*Weights, *Coder, *Inputs, int, int32) int { return -1 }

func mixVectors(*Mix, *Weights, uint32, int, uint64) int { return -1 }
