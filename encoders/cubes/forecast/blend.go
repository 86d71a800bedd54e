package forecast

// Blend improves the motion b at snapshot base by the mean speed since an earlier
// snapshot, taken the given number of ticks before. The mean is measured but quantised,
// so b follows it only as far as the two differ by more than quantisation explains. Over
// several ticks the mean is outdated; it then serves only where nothing else is known
// and b is zero.
func (b Body) Blend(before, base []int32, ticks int) Body {
	if ticks < 1 {
		return b
	}
	rate := 1 / float64(float64(ticks)*tickSeconds)
	v := PositionOf(base).Sub(PositionOf(before)).Scale(float64(rate * metre * stepDamping))
	w := Log(Mul(RotationOf(base), Conj(RotationOf(before)))).Scale(float64(rate * stepDamping))
	b.Vel = narrow(blendToward(wide(b.Vel), v, float64(rate*measureError*metre)))
	b.Spin = narrow(blendToward(wide(b.Spin), w, float64(rate*measureError/turnSteps)))
	return b.clamped()
}

const (
	stepDamping  = 0.99 // of a speed in one step
	measureError = 2.0  // difference, in steps, at which measurement and estimate weigh the same
)

// blendToward moves an estimate towards a measurement, the more the more they differ.
// They weigh the same at a difference of even.
func blendToward(estimate, measured vec, even float64) vec {
	d := measured.Sub(estimate)
	l := d.Dot(d)
	return estimate.AddScaled(d, l/(l+float64(even*even)))
}
