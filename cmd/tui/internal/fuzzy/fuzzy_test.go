package fuzzy

import (
	"slices"
	"testing"
)

var names = []string{"raw", "relative", "relative-orientation", "rotor", "kinetic", "rotor-fast", "Ärger"}

func TestRank(t *testing.T) {
	for typed, want := range map[string][]string{
		"":        names,
		"rel":     {"relative", "relative-orientation"},
		"ROTOR":   {"rotor", "rotor-fast"},
		"rotr":    {"rotor", "rotor-fast"},
		"rel-ori": {"relative-orientation"},
		"tor":     {"rotor", "rotor-fast"},
		"kntc":    {"kinetic"},
		"xyz":     nil,
		"är":      {"Ärger"},
	} {
		var got []string
		for _, i := range Rank(typed, names) {
			got = append(got, names[i])
		}
		if typed == "rotr" { // the order of equally good matches is free
			slices.Sort(got)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q matches %q, want %q", typed, got, want)
		}
	}
}

func TestComplete(t *testing.T) {
	for typed, want := range map[string]string{
		"ra": "raw", "rel-ori": "relative-orientation", "relative": "relative", "rotor-": "rotor-fast", "kntc": "kinetic", "ÄR": "Ärger",
		"rel": "", "r": "", "": "", "xyz": "", "rotr": "", "fast": "", "inetic": "",
	} {
		if got, ok := Complete(typed, names); got != want || ok != (want != "") {
			t.Errorf("%q stands for %q, want %q", typed, got, want)
		}
	}
}
