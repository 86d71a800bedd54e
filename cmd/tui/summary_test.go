package main

import "testing"

func TestFigure(t *testing.T) {
	for v, want := range map[float64]string{0: "0.000", 3.14159: "3.142", 31.4159: "31.42", 314.159: "314.2", 31415.9: "31416",
		-314.159: "-314.2"} {
		if got := figure(v); got != want {
			t.Errorf("figure(%v) = %s, want %s", v, got, want)
		}
	}
}
