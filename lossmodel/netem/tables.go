package netem

import (
	_ "embed"
	"encoding/binary"
)

// tableBytes is what gen_tables.go writes: the tables below, as little-endian int16.
//
//go:embed tables.bin
var tableBytes []byte

var (
	normalTable       = tableAt(0)
	paretoTable       = tableAt(1)
	paretoNormalTable = tableAt(2)
)

func tableAt(n int) (t [4096]int16) {
	for i := range t {
		t[i] = int16(binary.LittleEndian.Uint16(tableBytes[2*(len(t)*n+i):]))
	}
	return t
}
