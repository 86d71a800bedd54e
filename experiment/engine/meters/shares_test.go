package meters

import (
	"fmt"
	"math"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// With more fields than slots, the last share has the number of its fields, and the shares add up.
func TestSharesCountFieldsOfSlot(t *testing.T) {
	s := &frame.Schema{}
	var m Meter
	for i := range 60 {
		s.Fields = append(s.Fields, frame.Field{Name: fmt.Sprint("field", i)})
		m.Now.Budget.Bits(encoders.FieldSlot(i), 1+i)
	}
	sum, fields := 0.0, 0
	for _, x := range m.Shares(s) {
		sum += x.Share
		fields += max(x.Fields, 1)
	}
	if fields != 60 || math.Abs(sum-1) > 1e-9 {
		t.Errorf("shares of %d fields add up to %g", fields, sum)
	}
}
