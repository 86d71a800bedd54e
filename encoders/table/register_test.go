package table_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"wirelab/encoders"
	"wirelab/encoders/table"
)

// TestSetOutside checks that plugins get IDs in their order, and that a used name or too many plugins change nothing.
func TestSetOutside(t *testing.T) {
	defer func() {
		if err := table.SetPlugins(nil); err != nil || len(table.Plugins()) > 0 {
			t.Error(err)
		}
	}()
	list := func(names ...string) (list []encoders.Codec) {
		for _, name := range names {
			list = append(list, encoders.Codec{Name: name, Plugin: &encoders.Plugin{Path: "m.wasm"}})
		}
		return list
	}
	for _, names := range [][]string{{"mine", "yours"}, {"yours", "mine"}} {
		if err := table.SetPlugins(list(names...)); err != nil {
			t.Fatal(err)
		}
		for i, name := range names {
			if c, err := table.ByName(name); err != nil || int(c.ID) != table.FirstPluginID+i {
				t.Errorf("%s: %v %v", name, c, err)
			}
		}
	}
	var many []string
	for i := range 128 - table.FirstPluginID + 1 {
		many = append(many, fmt.Sprint("x", i))
	}
	for _, c := range []struct {
		names []string
		says  string
	}{{[]string{"mine", "raw"}, "two encoders are called raw: the built-in one and that of m.wasm"}, {[]string{"mine", "mine"}, "two encoders are called mine: that of m.wasm and"}, {many, "expected at most 16"}} {
		if err := table.SetPlugins(list(c.names...)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v", c.names, err)
		}
	}
	if n := len(table.Plugins()); n != 2 {
		t.Errorf("%d are left of 2", n)
	}
	if err := table.SetPlugins(list(many[:len(many)-1]...)); err != nil {
		t.Error(err)
	}
}

// TestLoad checks that Load fails without a loader.
func TestLoad(t *testing.T) {
	if _, err := table.Load([]table.Wanted{{Path: "x.wasm"}}); err == nil {
		t.Error("Load without a loader returns no error")
	}
	failed := errors.New("no")
	table.SetLoader(func(list []table.Wanted) (int, error) { return len(list), failed })
	defer table.SetLoader(nil)
	if at, err := table.Load(make([]table.Wanted, 3)); at != 3 || err != failed {
		t.Error(at, err)
	}
}
