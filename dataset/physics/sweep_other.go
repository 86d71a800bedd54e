//go:build !amd64 || purego

package physics

// solveRows updates the impulses of rows.
func solveRows(rows []row, motion []motion) { solveRowsPlain(rows, motion) }
