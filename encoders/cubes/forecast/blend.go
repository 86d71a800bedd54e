package forecast

// Blend improves b, how a cube moves at snapshot base, by what another snapshot
// shows that was taken the given number of ticks before: the mean speed since
// then. That was measured, but in whole steps of the snapshot; so b follows it
// where the two differ by more than that explains. The mean over more than one
// tick is old when it is known: it serves who knows nothing else, b being zero.
func (b Body) Blend(before, base []int32, ticks int) Body {
	if ticks < 1 {
		return b
	}
	rate := 1 / float64(float64(ticks)*TickSeconds)
	v := PositionOf(base).Sub(PositionOf(before)).Scale(float64(rate * metre * stepDamping))
	w := Log(Mul(RotationOf(base), Conj(RotationOf(before)))).Scale(float64(rate * stepDamping))
	b.Vel = narrow(blendToward(wide(b.Vel), v, float64(rate*measureError*metre)))
	b.Spin = narrow(blendToward(wide(b.Spin), w, float64(rate*measureError/turnSteps)))
	return b.clamped()
}

const (
	stepDamping  = 0.99 // of a speed after the step in which it showed
	measureError = 2.0  // steps by which measurement and estimate differ when they weigh the same
)

// follow moves an estimate towards what was measured, the farther the more they
// differ. They weigh the same where they differ by even.
func blendToward(estimate, measured Vec, even float64) Vec {
	d := measured.Sub(estimate)
	l := d.Dot(d)
	return estimate.AddScaled(d, l/(l+float64(even*even)))
}
