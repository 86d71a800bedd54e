package lossmodel

import (
	"fmt"
	"reflect"
	"slices"
	"sync"

	"wirelab/lossmodel/loss"
	"wirelab/lossmodel/netem"
)

// Spec has all settings of a link. It is a value: it can be copied and compared with ==. Files
// are referred to by name. Start from DefaultSpec and set fields, or use Set with the text that
// users write.
//
// The fields of Spec are also the table of stages: a packet passes them in this order. To add a
// stage, write a file with its parameters, its stage and a method row, and add a field.
type Spec struct {
	Duplicate Duplicate
	Loss      loss.Model // nil means no loss
	Corrupt   Corruption
	Rate      Rate
	Delay     Delay
	Reorder   Reorder
	MTU       int // size of the largest IP packet in bytes
	// Netem, if on, replaces all of the above except MTU.
	Netem netem.Params
}

// params is the type of a field of Spec. row does not depend on the receiver's value.
type params interface{ row() stageRow }

// rowForField returns the row of a field of Spec, given by its address. Fields whose type cannot have
// the method row are listed here; it panics for others.
func rowForField(field any) stageRow {
	switch f := field.(type) {
	case params:
		return f.row()
	case *loss.Model:
		return lossRow()
	case *int: // the field is MTU
		return mtuRow()
	case *netem.Params:
		return netemRow()
	}
	panic(fmt.Sprintf("lossmodel: Spec has a field of type %T without a method row", field))
}

// stageTable is derived from the fields of Spec. It never changes.
type stageTable struct {
	rows     []stageRow
	keys     []keyRow // keys of all rows
	defaults Spec
}

// stages returns the table of stages. It is computed once, because screens read values many times
// per second.
var stages = sync.OnceValue(func() *stageTable {
	t := &stageTable{}
	fields := reflect.ValueOf(&t.defaults).Elem()
	count := 0 // number of stages that can be on at once
	for i := range fields.NumField() {
		row := rowForField(fields.Field(i).Addr().Interface())
		t.rows = append(t.rows, row)
		if row.setDefaults != nil {
			row.setDefaults(&t.defaults)
		}
		if row.newStage != nil && !row.replaces {
			count++
		}
		if row.name == StageLoss { // listed first, because most users need it first
			t.keys = slices.Insert(t.keys, 0, row.keys...)
		} else {
			t.keys = append(t.keys, row.keys...)
		}
	}
	for i := range t.keys {
		t.keys[i].Default = t.keys[i].Text(&t.defaults)
	}
	if count > maxSteps {
		panic(fmt.Sprintf("lossmodel: %d stages, but a trail holds %d: raise maxSteps", count, maxSteps))
	}
	return t
})

// DefaultSpec returns a perfect link without loss, delay, duplication, damage or rate limit. The
// MTU is 1500.
func DefaultSpec() Spec { return stages().defaults }

// Validate checks that every value is in its range and that values are consistent, for example a
// mean loss and a mean burst. The error is a *KeyError.
func (s Spec) Validate() error {
	for i := range stages().keys {
		if err := stages().keys[i].Check(&s); err != nil {
			return err
		}
	}
	for _, row := range slices.Backward(stages().rows) { // checks the last stage first; the first error found is returned
		if row.check != nil {
			if err := row.check(&s); err != nil {
				return err
			}
		}
	}
	return nil
}
