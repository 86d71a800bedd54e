package table

import (
	"errors"
	"fmt"
	"math"

	"wirelab/dataset/frame"
	"wirelab/internal/units"
)

// ParseTolerance returns the value of a key "tolerance" in the unit of its field: a number in that unit, or a text
// such as "1 cm". An error is the problem, without the place in the file; ToleranceExpected describes valid values.
func ParseTolerance(value any, unit string) (float64, error) {
	v, ok := toFloat(value)
	if text, isText := value.(string); isText {
		number, textUnit := units.Split(text)
		v, ok = units.ParseDecimal(number, 0)
		if ok && textUnit != "" {
			factor, convertible := units.Factor(textUnit, unit)
			if !convertible {
				return 0, fmt.Errorf("%s has no value in the unit of the field, %q", quoted(text), unit)
			}
			v *= factor
		}
	}
	if scale := 2 * v; !ok || scale < minScale || scale > maxScale {
		return 0, errors.New(formatValue(value) + " is not valid")
	}
	return v, nil
}

// ToleranceExpected describes a valid tolerance of a field with the given unit.
func ToleranceExpected(unit string) string {
	if unit == "" {
		return "the largest rounding error, such as 0.5; a unit needs the key unit too"
	}
	return fmt.Sprintf("the largest rounding error in %s or a unit that converts to it, such as \"0.5 %[1]s\"", unit)
}

// scaleWithin returns the largest scale whose rounding error is at most maxError. A turn of an angle, whose size is
// span, is a whole number of steps.
func scaleWithin(k frame.Kind, maxError, span float64) float64 {
	scale := 2 * maxError
	if k != frame.Angle {
		return scale
	}
	const slack = 1e-9 // of a step: a turn that is a multiple of the scale remains one
	return span / math.Ceil(span/scale-slack)
}
