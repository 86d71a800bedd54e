//go:build !amd64 || purego

package physics

func solveRows(rows []row, motion []motion) { solveRowsPlain(rows, motion) }
