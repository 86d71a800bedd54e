//go:build !amd64 || purego

package physics

func (s *lcp) sweepVectors(pass) bool { return false }
