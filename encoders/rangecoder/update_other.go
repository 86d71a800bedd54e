//go:build !amd64 || purego

package rangecoder

const hasVectors = false

func updateVectors(w *Weights, in *Inputs, wrong int32) { w.updateScalar(in, wrong) }

func mixVectors(*Mix, *Weights, uint32, int, uint64) int { return -1 }
