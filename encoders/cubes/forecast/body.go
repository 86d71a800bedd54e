package forecast

// Speeds beyond these are not the demonstration's, and are cut off.
const (
	MaxSpeed = 32 // metres per second
	MaxSpin  = 16 // radians per second
)

// corrected is towards, for the cube of a row.
func (r *Result) correctRow(row []int32, ticks int, gain float64) Body {
	return r.correct(PositionOf(row), RotationOf(row), ticks, gain)
}

// towards returns how a cube really moves, given where it turned out to be after a run
// of so many ticks. Most of an error in position comes from an error in speed at the
// start, and lasts; so the speed is corrected by gain times the error over the time
// that it took.
func (r *Result) correct(pos Vec, rot Quat, ticks int, gain float64) Body {
	rate := gain / float64(float64(max(ticks, 1))*TickSeconds)
	b, e, turn := r.Body, pos.Sub(r.Pos), Log(Mul(rot, Conj(r.Rot)))
	v := wide(b.Vel).AddScaled(e, float64(rate*metre*errorShare(e.Dot(e))))
	w := wide(b.Spin).AddScaled(turn, float64(rate*errorShare(float64(turn.Dot(turn)*(turnSteps*turnSteps)))))
	b.Vel, b.Spin = narrow(v.Limit(MaxSpeed)), narrow(w.Limit(MaxSpin))
	return b.clamped()
}

// trust returns the share of an error that is laid to speed, given the square of
// the error in steps of the snapshot. A small one may be nothing but rounding,
// and following it would make a good estimate worse.
func errorShare(square float64) float64 {
	const least, half = 0.3, 1.5 * 1.5 // half: where doubt halves
	return least + float64((1-least)*square)/(square+half)
}

// tamed returns b with everything within bounds, whatever it was.
func (b Body) clamped() Body {
	for k := range 3 {
		b.Vel[k] = clamp(b.Vel[k], MaxSpeed)
		b.Spin[k] = clamp(b.Spin[k], MaxSpin)
	}
	if !(b.Still >= 0) {
		b.Still = 0
	}
	b.Still = min(b.Still, 1)
	return b
}

// within returns x brought between -most and most, 0 if it is no number.
func clamp(x, most float32) float32 {
	if x != x {
		return 0
	}
	return max(-most, min(x, most))
}

func wide(a [3]float32) Vec { return Vec{X: float64(a[0]), Y: float64(a[1]), Z: float64(a[2])} }

func narrow(a Vec) [3]float32 { return [3]float32{float32(a.X), float32(a.Y), float32(a.Z)} }
