package suggest_test

import "testing"

import "wirelab/internal/suggest"

func TestClosest(t *testing.T) {
	known := []string{"quantity", "enum", "flag", "bits", "angle", "float32", "float-array", "z"}
	for name, want := range map[string]string{
		"quantiti": "quantity", "Quan": "quantity", "flgs": "", "fagl": "", "flga": "flag", "bit": "bits", "angel": "angle", "float3": "float32",
		"velocity": "", "": "", "xy": "", "y": "", "Z": "z",
	} {
		if got := suggest.Closest(name, known); got != want {
			t.Errorf("by %q %q is meant, want %q", name, got, want)
		}
	}
}
