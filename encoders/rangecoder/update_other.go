//go:build !amd64 || purego

package rangecoder

const hasVectors = false

func updateVectors(w *Weights, in *Inputs, wrong int32) { w.updateScalar(in, wrong) }
