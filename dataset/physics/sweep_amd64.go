//go:build !purego

package physics

import "golang.org/x/sys/cpu"

// solveRows corrects the impulses of rows. Every product and sum is the one that the
// plain code makes, in its order and rounded as there: the result is the same to the bit.
func solveRows(rows []row, motion []motion) {
	if !cpu.X86.HasAVX {
		solveRowsPlain(rows, motion)
	} else if len(rows) > 0 {
		solveRowsAVX(&rows[0], len(rows), &motion[0])
	}
}

//go:noescape
func solveRowsAVX(rows *row, n int, motion *motion)
