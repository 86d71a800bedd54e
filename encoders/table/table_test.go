package table

import (
	"errors"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// TestEntries checks that every entry of the table is complete and consistent.
func TestEntries(t *testing.T) {
	ids, names := map[uint8]string{}, map[string]bool{}
	kebab := regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	for _, c := range All() {
		if c.ID < 1 || c.ID > 127 || ids[c.ID] != "" {
			t.Errorf("%s: id %d is out of range or used by %q", c.Name, c.ID, ids[c.ID])
		}
		if !kebab.MatchString(c.Name) || names[c.Name] {
			t.Errorf("name %q is not in kebab case, or used twice", c.Name)
		}
		ids[c.ID], names[c.Name] = c.Name, true
		if c.Summary == "" || c.Source == "" || c.Refs < 1 || c.Refs > 2 || c.Suits == nil || c.New == nil {
			t.Errorf("%s has an empty field: %+v", c.Name, c)
		}
		if err := encoders.Validate(c.Defaults()); err != nil {
			t.Errorf("%s: invalid defaults: %v", c.Name, err)
		}
		if text := c.Canonical(c.Defaults()); len(text) != 0 {
			t.Errorf("%s: canonical text of the defaults is %q, want none", c.Name, text)
		}
		for _, p := range c.ParamInfo() {
			if p.Help == "" || p.Type == "int" && (p.Min == nil || p.Max == nil) {
				t.Errorf("%s: parameter %s has no help or no bounds", c.Name, p.Name)
			}
		}
	}
}

// TestIDs checks that IDs do not change, because packet headers and reports contain them.
func TestIDs(t *testing.T) {
	want := map[uint8]string{
		1: "raw", 2: "at-rest", 3: "quantized", 4: "changed-bits", 5: "changed-index", 6: "relative-index",
		7: "relative-position", 8: "relative-orientation", 9: "rotor",
		17: "adaptive", 19: "kinetic-lite", 20: "kinetic",
		24: "full", 25: "rpc-delta", 26: "rpc-adaptive", 27: "receiver-adaptive", 28: "datagram", 29: "datagram-acked",
		40: "delta-adaptive", 41: "quake3",
		48: "patch", 50: "whole-zstd", 51: "whole-raw",
		64: "xor-rle", 65: "deflate", 66: "zstd", 67: "zstd-dict", 68: "zstd-baseline",
	}
	for _, c := range All() {
		if name, old := want[c.ID]; old && c.Name != name {
			t.Errorf("id %d is %s, want %s", c.ID, c.Name, name)
		}
		delete(want, c.ID)
	}
	if len(want) > 0 {
		t.Errorf("encoders are missing: %v", want)
	}
}

func TestByName(t *testing.T) {
	c, err := ByName("rotor")
	if err != nil || c.Name != "rotor" {
		t.Fatalf("rotor: %v, %v", c, err)
	}
	_, err = ByName("rottor")
	var unknown *UnknownError
	if !errors.As(err, &unknown) {
		t.Fatalf("rottor: error %v, want an *UnknownError", err)
	}
	if name, known := unknown.Unknown(); name != "rottor" || len(known) != len(All()) || known[0] != "raw" {
		t.Errorf("Unknown() = %q, %q", name, known)
	}
}

// TestAllReturnsCopy checks that changing the result of All does not affect the next one.
func TestAllReturnsCopy(t *testing.T) {
	All()[0].Name = "spoilt"
	if All()[0].Name != "raw" {
		t.Error("a change to one result of All appears in the next")
	}
}

// TestNewValidates checks that New accepts parameters at their bounds and refuses those beyond, also if they were set
// without SetParam.
func TestNewValidates(t *testing.T) {
	for _, c := range All() {
		fields := []reflect.StructField{}
		if c.Params != nil {
			fields = slices.DeleteFunc(reflect.VisibleFields(reflect.TypeOf(c.Params).Elem()), func(f reflect.StructField) bool { return f.Anonymous })
		}
		for i, p := range c.ParamInfo() {
			if p.Type != "int" {
				continue
			}
			for v, ok := range map[int]bool{int(*p.Min): true, int(*p.Max): true, int(*p.Min) - 1: false, int(*p.Max) + 1: false} {
				params := c.Defaults()
				reflect.ValueOf(params).Elem().FieldByIndex(fields[i].Index).SetInt(int64(v))
				_, _, err := c.New(frame.Cubes(3), params)
				if (err == nil) != ok || err != nil && !errors.Is(err, encoders.ErrParam) {
					t.Errorf("%s: New with %s = %d: error %v; its range is %g to %g", c.Name, p.Name, v, err, *p.Min, *p.Max)
				}
			}
		}
	}
}
