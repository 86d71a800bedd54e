//go:build !amd64 || purego

package physics

// solveRows updates the impulses of rows and the motions of their bodies.
func solveRows(rows []row, motion []motion) { solveRowsPlain(rows, motion) }
