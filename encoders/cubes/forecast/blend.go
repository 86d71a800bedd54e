package forecast

// Blend improves b, how a cube moves at snapshot base, by what another snapshot
// shows that was taken the given number of ticks before: the mean speed since
// then. That was measured, but in whole steps of the snapshot, and over several
// ticks it says little of the last; so b follows it where the two differ by more
// than that explains. One tick is worth a lot, two a little; any other number leaves
// b alone.
func (b Body) Blend(before, base []int32, ticks int) Body {
	if ticks < 1 || ticks > 2 {
		return b
	}
	rate := 1 / float64(float64(ticks)*TickSeconds)
	old := float64(ticks - 1)
	v := PositionOf(base).Sub(PositionOf(before)).Scale(float64(rate * metre * kept))
	w := Log(Mul(RotationOf(base), Conj(RotationOf(before)))).Scale(float64(rate * kept))
	b.Vel = narrow(follow(wide(b.Vel), v, float64(rate*doubt*metre)+float64(old*stale)))
	b.Spin = narrow(follow(wide(b.Spin), w, float64(rate*doubt/turnSteps)+float64(old*staleSpin)))
	return b.tamed()
}

const (
	kept = 0.99 // of a speed after the step in which it showed

	// By how much measurement and estimate differ when they weigh the same.
	doubt     = 2.0 // steps of position or of turning, over the time between the snapshots
	stale     = 1.3 // metres per second, for a mean over two ticks
	staleSpin = 0.5 // radians per second, likewise
)

// follow moves an estimate towards what was measured, the farther the more they
// differ. They weigh the same where they differ by even.
func follow(estimate, measured Vec, even float64) Vec {
	d := measured.Sub(estimate)
	l := d.Dot(d)
	return estimate.AddScaled(d, l/(l+float64(even*even)))
}
