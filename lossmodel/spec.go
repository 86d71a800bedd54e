package lossmodel

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"wirelab/lossmodel/loss"
	"wirelab/lossmodel/netem"
)

// Spec is everything that can be set on a link. It is a plain value: copy it,
// compare it with ==; files are named, not held. Start from DefaultSpec; set
// fields, or use Set, which takes what people write.
//
// Spec is also the table of stages: a packet passes them in the order of the
// fields. To add a stage, write a file with its parameters, its stage and a method
// row, and add a field here.
type Spec struct {
	Duplicate Duplicate
	Loss      loss.Model // nil: nothing is lost
	Corrupt   Corruption
	Rate      Rate
	Delay     Delay
	Reorder   Reorder
	MTU       int // bytes of the largest IP packet
	// Netem, if it is on, decides in place of all of the above but MTU and
	// Corrupt.Checksum.
	Netem netem.Params
}

// params is a field of Spec; its method does not look at the value.
type params interface{ row() stageRow }

// rowOf returns the row of a field of Spec, given by its address.
func rowOf(field any) stageRow {
	switch f := field.(type) {
	case params:
		return f.row()
	case *loss.Model:
		return lossRow()
	case *int:
		return mtuRow()
	case *netem.Params:
		return netemRow()
	}
	panic(fmt.Sprintf("lossmodel: Spec has a field of type %T without a method row", field))
}

// stageTable is what follows from the fields of Spec. It never changes.
type stageTable struct {
	rows    []stageRow
	keys    []keyRow // of all rows
	initial Spec
}

// stages returns the table of stages. It is made once, since screens ask for values
// many times a second.
var stages = sync.OnceValue(func() *stageTable {
	t := &stageTable{}
	fields := reflect.ValueOf(&t.initial).Elem()
	count := 0
	for i := range fields.NumField() {
		row := rowOf(fields.Field(i).Addr().Interface())
		t.rows = append(t.rows, row)
		if row.initial != nil {
			row.initial(&t.initial)
		}
		if row.make != nil && !row.replaces {
			count++
		}
		if row.name == StageLoss { // listed first: it is what most users look for
			t.keys = slices.Insert(t.keys, 0, row.keys...)
		} else {
			t.keys = append(t.keys, row.keys...)
		}
	}
	for i := range t.keys {
		t.keys[i].Default = t.keys[i].Text(&t.initial)
	}
	if count > maxSteps {
		panic(fmt.Sprintf("lossmodel: %d stages, but a trail holds %d: raise maxSteps", count, maxSteps))
	}
	return t
})

// DefaultSpec returns a perfect link: nothing is lost, delayed, doubled, damaged
// or held up. The checksum is on and the MTU is Ethernet's.
func DefaultSpec() Spec { return stages().initial }

// Validate says whether the spec makes sense as a whole: every value in its
// range, and those that depend on each other (a mean loss and a mean burst)
// possible together. The error is a *KeyError.
func (s Spec) Validate() error {
	for i := range stages().keys {
		if err := stages().keys[i].Check(&s); err != nil {
			return err
		}
	}
	for _, row := range slices.Backward(stages().rows) { // of two faults, the later stage's is named
		if row.check != nil {
			if err := row.check(&s); err != nil {
				return err
			}
		}
	}
	return nil
}
