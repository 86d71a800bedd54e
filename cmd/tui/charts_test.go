package main

import "testing"

// TestDefaultChartStyle checks that charts use Braille characters if the locale is UTF-8.
func TestDefaultChartStyle(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"LANG": "en_GB.UTF-8"}, "fine"}, {map[string]string{"LC_ALL": "C.utf8", "LANG": "C"}, "fine"},
		{map[string]string{"LC_CTYPE": "de_DE.ISO-8859-1", "LANG": "de_DE.UTF-8"}, "line"}, {map[string]string{"LANG": "C"}, "line"},
		{map[string]string{"LANG": "C.UTF-8", "TERM": "linux"}, "line"}, {nil, "fine"},
	} {
		if got := defaultChartStyle(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: %s, want %s", c.env, got, c.want)
		}
	}
}
