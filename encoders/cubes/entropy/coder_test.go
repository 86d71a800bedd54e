package entropy

import (
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

// TestRefusedFrameIsNotCharged checks that the bits of a frame that was refused midway are not charged
// to the budget of the next frame.
func TestRefusedFrameIsNotCharged(t *testing.T) {
	for _, c := range codecs() {
		frames := crowd(19, 30, 3)
		refs := []encoders.Ref{{Frame: frames[0]}}
		bad := &frame.Frame{}
		bad.CopyFrom(frames[2])
		cube.At(bad.Table, 29)[frame.CubeZ] = -1

		var want, got encoders.Budget
		fresh, _ := newPair(t, c, 30)
		if _, _, err := fresh.Encode(nil, frames[2], refs, nil, &want); err != nil {
			t.Fatal(err)
		}
		used, _ := newPair(t, c, 30)
		if _, _, err := used.Encode(nil, bad, refs, nil, &encoders.Budget{}); err == nil {
			t.Fatalf("%s encoded a cube with z = -1", c.Name)
		}
		if _, _, err := used.Encode(nil, frames[2], refs, nil, &got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s charges %d after a refusal, %d without one", c.Name, got.Units, want.Units)
		}
	}
}
