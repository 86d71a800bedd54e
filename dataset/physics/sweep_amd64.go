//go:build !purego

package physics

import "golang.org/x/sys/cpu"

// sweepVectors corrects one pass with vector instructions; false if this processor has
// none. Every product and sum is the one that the plain code makes, in its order and
// rounded as there: the result is the same to the bit.
func (s *lcp) sweepVectors(p pass) bool {
	if !cpu.X86.HasAVX2 {
		return false
	}
	if p.what < floorX {
		if rows := s.rows[p.k][p.what]; len(rows) > 0 {
			solveRowsAVX2(&rows[0], len(rows), &s.motion[0])
		}
		return true
	}
	floor := s.floor[p.k]
	if len(floor) == 0 {
		return true
	}
	switch p.what {
	case floorX:
		solveFloorXAVX2(&floor[0], len(floor), &s.motion[0])
	case floorY:
		solveFloorYAVX2(&floor[0], len(floor), &s.motion[0])
	default:
		solveFloorZAVX2(&floor[0], len(floor), &s.motion[0])
	}
	return true
}

//go:noescape
func solveRowsAVX2(rows *row, n int, motion *motion)

//go:noescape
func solveFloorXAVX2(floor *floorContact, n int, motion *motion)

//go:noescape
func solveFloorYAVX2(floor *floorContact, n int, motion *motion)

//go:noescape
func solveFloorZAVX2(floor *floorContact, n int, motion *motion)
