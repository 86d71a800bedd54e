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
	module := append([]byte(head), 1, 5, 1, 0x60, 0, 1, 0x7f, 3, 2, 1, 0, sectionTable, byte(len(table)))
	module = append(module, table...)
	module = append(module, 7, 5, 1, 1, 'g', 0, 0)
	// ref.null func, i32.const 2^20, table.grow 0
	return append(module, 10, 14, 1, 12, 0, 0xd0, 0x70, 0x41, 0x80, 0x80, 0xc0, 0, 0xfc, 15, 0, 0x0b)
}

// A module with limited tables cannot use all memory through table.grow.
func TestLimitModule(t *testing.T) {
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
		bounded, err := limitModule(module)
		if err != nil {
			t.Fatal(err)
		}
		if got := grow(bounded); got != math.MaxUint32 {
			t.Errorf("the table grew, table.grow returns %d", got)
		}
		again, err := limitModule(bounded)
		if err != nil || !bytes.Equal(again, bounded) {
			t.Errorf("%v: %x, expected %x", err, again, bounded)
		}
	}
	small := growModule(1, 3, 4)
	if got, err := limitModule(small); err != nil || !bytes.Equal(got, small) {
		t.Errorf("%v: %x", err, got)
	}
	for _, module := range [][]byte{growModule(0, 0xff, 0xff, 0xff, 0x3f), growModule(2, 3), growModule(0), growModule(0, 3)[:20]} {
		if _, err := limitModule(module); err == nil {
			t.Errorf("%x is accepted", module)
		}
	}
}

// A module that says that a list is longer than the module is refused before wazero allocates the list. FuzzLoad has
// a function with 10^9 variables, which took a minute and all memory.
func TestLimitModuleLists(t *testing.T) {
	const head, huge = "\x00asm\x01\x00\x00\x00", "\xff\xff\xff\xff\x0f"
	const zero = "\x41\x00\x0b" // a constant
	section := func(id byte, contents string) string { return string([]byte{id, byte(len(contents))}) + contents }
	for _, c := range []struct{ name, contents string }{
		{"types", section(sectionType, huge)},
		{"parameters", section(sectionType, "\x01\x60"+huge)},
		{"results", section(sectionType, "\x01\x60\x00"+huge)},
		{"imports", section(sectionImport, huge)},
		{"name", section(sectionImport, "\x01"+huge)},
		{"functions", section(sectionFunction, huge)},
		{"tables", section(sectionTable, huge)},
		{"memories", section(sectionMemory, huge)},
		{"globals", section(sectionGlobal, huge)},
		{"exports", section(sectionExport, huge)},
		{"elements", section(sectionElement, huge)},
		{"functions of an element", section(sectionElement, "\x01\x00"+zero+huge)},
		{"expressions of an element", section(sectionElement, "\x01\x05\x70"+huge)},
		{"code", section(sectionCode, huge)},
		{"runs of variables", section(sectionCode, "\x01\x05"+huge)},
		{"variables", section(sectionCode, "\x01\x08\x01"+huge+"\x7f\x0b")},
		{"data", section(sectionData, huge)},
		{"bytes of data", section(sectionData, "\x01\x00"+zero+huge)},
		{"section", "\x01" + huge},
		{"unknown section", section(sectionDataCount+1, "\x00")},
	} {
		if _, err := limitModule([]byte(head + c.contents)); err == nil {
			t.Errorf("%s: accepted", c.name)
		}
	}
	names := section(sectionCustom, "\x04name\x01\x05"+huge)
	if got, err := limitModule([]byte(head + names)); err != nil || string(got) != head {
		t.Errorf("with custom sections: %x, %v, expected %x", got, err, head)
	}
	many := section(sectionCode, "\x01\x07\x01\xd0\x86\x03\x7f\x00\x0b")
	if _, err := limitModule([]byte(head + many)); err != nil {
		t.Errorf("50,000 variables: %v", err)
	}
	tooMany := section(sectionCode, "\x01\x07\x01\xd1\x86\x03\x7f\x00\x0b")
	if _, err := limitModule([]byte(head + tooMany)); err == nil {
		t.Error("50,001 variables: accepted")
	}
}
