package plugin

import (
	"bytes"
	"math"
	"testing"

	"github.com/tetratelabs/wazero"
)

// growModule returns a module whose function g grows its table by 2^20 entries and returns the result of
// table.grow. limits are those of the table in the binary format.
func growModule(limits ...byte) []byte {
	const head = "\x00asm\x01\x00\x00\x00"
	table := append([]byte{1, 0x70}, limits...)
	module := append([]byte(head), 1, 5, 1, 0x60, 0, 1, 0x7f, 3, 2, 1, 0, tableSection, byte(len(table)))
	module = append(module, table...)
	module = append(module, 7, 5, 1, 1, 'g', 0, 0)
	// ref.null func, i32.const 2^20, table.grow 0
	return append(module, 10, 14, 1, 12, 0, 0xd0, 0x70, 0x41, 0x80, 0x80, 0xc0, 0, 0xfc, 15, 0, 0x0b)
}

// A module with limited tables cannot use all memory through table.grow.
func TestLimitTables(t *testing.T) {
	ctx := t.Context()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer rt.Close(ctx)
	grow := func(module []byte) uint32 {
		m, err := rt.InstantiateWithConfig(ctx, module, wazero.NewModuleConfig().WithName(""))
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.ExportedFunction("g").Call(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return uint32(got[0])
	}
	for _, limits := range [][]byte{{0, 3}, {1, 3, 0xff, 0xff, 0xff, 0xff, 0x0f}} {
		module := growModule(limits...)
		if got := grow(module); got != 3 {
			t.Fatalf("table.grow returns %d, expected 3: the module of the test is wrong", got)
		}
		bounded, err := limitTables(module)
		if err != nil {
			t.Fatal(err)
		}
		if got := grow(bounded); got != math.MaxUint32 {
			t.Errorf("the table grew, table.grow returns %d", got)
		}
		again, err := limitTables(bounded)
		if err != nil || !bytes.Equal(again, bounded) {
			t.Errorf("%v: %x, expected %x", err, again, bounded)
		}
	}
	small := growModule(1, 3, 4)
	if got, err := limitTables(small); err != nil || !bytes.Equal(got, small) {
		t.Errorf("%v: %x", err, got)
	}
	for _, module := range [][]byte{growModule(0, 0xff, 0xff, 0xff, 0x3f), growModule(2, 3), growModule(0), growModule(0, 3)[:20]} {
		if _, err := limitTables(module); err == nil {
			t.Errorf("%x is accepted", module)
		}
	}
}
