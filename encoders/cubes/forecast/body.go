package forecast

// Bounds of speeds; larger ones are clamped.
const (
	maxSpeed = 32 // metres per second
	maxSpin  = 16 // radians per second
)

// correctRow is correct for the pose of a row.
func (r *Result) correctRow(row []int32, ticks int, gain float64) Body {
	return r.correct(PositionOf(row), RotationOf(row), ticks, gain)
}

// correct returns the corrected motion of a cube, given its true pose after a run of so
// many ticks. Most of an error in position comes from an error in the speed at the start
// and lasts, so the speed is corrected by gain times the error divided by the time.
func (r *Result) correct(pos vec, rot quat, ticks int, gain float64) Body {
	rate := gain / float64(float64(max(ticks, 1))*tickSeconds)
	b, e, turn := r.Body, pos.Sub(r.Pos), Log(Mul(rot, Conj(r.Rot)))
	v := wide(b.Vel).AddScaled(e, float64(rate*metre*errorShare(e.Dot(e))))
	w := wide(b.Spin).AddScaled(turn, float64(rate*errorShare(float64(turn.Dot(turn)*(turnSteps*turnSteps)))))
	b.Vel, b.Spin = narrow(v.Limit(maxSpeed)), narrow(w.Limit(maxSpin))
	return b.clamped()
}

// errorShare returns the share of an error that is attributed to speed, given the
// squared error in steps of the snapshot. Small errors may be rounding.
func errorShare(square float64) float64 {
	const least, half = 0.3, 1.5 * 1.5 // half: the error at which half of the rest is attributed
	return least + float64((1-least)*square)/(square+half)
}

// clamped returns b with all values within bounds.
func (b Body) clamped() Body {
	for k := range 3 {
		b.Vel[k] = clamp(b.Vel[k], maxSpeed)
		b.Spin[k] = clamp(b.Spin[k], maxSpin)
	}
	if !(b.Still >= 0) {
		b.Still = 0
	}
	b.Still = min(b.Still, 1)
	return b
}

// clamp returns x clamped to -most..most, 0 for NaN.
func clamp(x, most float32) float32 {
	if x != x {
		return 0
	}
	return max(-most, min(x, most))
}

func wide(a [3]float32) vec { return vec{X: float64(a[0]), Y: float64(a[1]), Z: float64(a[2])} }

func narrow(a vec) [3]float32 { return [3]float32{float32(a.X), float32(a.Y), float32(a.Z)} }
