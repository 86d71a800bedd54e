//go:build !purego

package physics

import "golang.org/x/sys/cpu"

// solveRows updates the impulses of rows and the motions of their bodies. The vector instructions compute the same products and sums
// in the same order as solveRowsPlain, so that results are equal to the bit.
func solveRows(rows []row, motion []motion) {
	if !cpu.X86.HasAVX {
		solveRowsPlain(rows, motion)
	} else if len(rows) > 0 {
		solveRowsAVX(&rows[0], len(rows), &motion[0])
	}
}

// solveRowsAVX is solveRowsPlain for n rows, in sweep_amd64.s.
//
//go:noescape
func solveRowsAVX(rows *row, n int, motion *motion)
