package random

import (
	_ "embed"
	"encoding/binary"
)

// tableBytes contains the tables below as little-endian uint32. TestTablesFile generates it. For
// the contents see normal.go and quantile.go.
//
//go:embed tables.bin
var tableBytes []byte

// Each table has one entry more than intervals: 33 octaves of 32 intervals in normalTable, 256
// intervals in the others.
var (
	normalTable   = [1057]uint32(readTable(0, 1057))
	logTable      = [257]uint32(readTable(1057, 257))
	cubeRootTable = [257]uint32(readTable(1057+257, 257))
)

// readTable returns n entries of tableBytes, starting with entry first.
func readTable(first, n int) []uint32 {
	w := make([]uint32, n)
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(tableBytes[4*(first+i):])
	}
	return w
}
