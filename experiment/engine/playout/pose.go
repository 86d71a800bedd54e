package playout

import (
	"math"
	"time"

	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
	"wirelab/encoders/cubes/forecast"
)

// cubePose is the position and rotation of a cube, at the precision of the error measurement.
type cubePose struct {
	pos         physics.Vec // metres
	rot         physics.Quat
	interacting bool
}

// setRow sets p to the pose that a row of a cube snapshot encodes. residual is what was rounded off the
// values of the row, nil if nothing was.
func (p *cubePose) setRow(row *cubeRow, residual []float32) {
	p.pos = forecast.Position(row[:]).Scale(1.0 / frame.UnitsPerMetre)
	p.rot = forecast.Orientation(row[:])
	p.interacting = row[frame.CubeInteracting] != 0
	if residual == nil {
		return
	}
	r := func(i int) float64 { return float64(residual[i]) }
	p.pos = p.pos.Add(physics.Vec{X: r(frame.CubeX), Y: r(frame.CubeY), Z: r(frame.CubeZ)})
	components := [4]*float64{&p.rot.X, &p.rot.Y, &p.rot.Z, &p.rot.W}
	largest := int(row[frame.CubeLargest])
	largestSquare := 1.0
	k := frame.CubeA
	for i, c := range components {
		if i != largest {
			*c += r(k)
			largestSquare -= float64(*c * *c)
			k++
		}
	}
	*components[largest] = math.Sqrt(largestSquare)
}

// poseError returns the distance of two poses: of the positions in micrometres, and the angle between
// the rotations in thousandths of a degree. Integers make all figures derived from them the same on
// every machine.
func poseError(a, b *cubePose) (um, mdeg int64) {
	um = int64(float64(a.pos.Sub(b.pos).Length()*1e6) + 0.5) // + 0.5 rounds to the nearest integer
	turn := forecast.Log(forecast.Mul(a.rot, forecast.Conj(b.rot))).Length()
	return um, int64(float64(turn*(180_000/math.Pi)) + 0.5)
}

// interpolate sets p to the pose between a and b: at a for share 0, at b for share 1. Positions are
// interpolated linearly, rotations by nlerp.
func (p *cubePose) interpolate(a, b *cubePose, share float64) {
	p.pos = a.pos.Scale(1-share).AddScaled(b.pos, share)
	p.rot = nlerp(a.rot, b.rot, share)
	p.interacting = a.interacting // a flag cannot be interpolated
}

// nlerp returns the normalised linear interpolation of two unit quaternions: a for t = 0, b for t = 1.
// It negates one of them if necessary to take the shorter arc, since q and -q are the same rotation.
// If they cancel out, it returns a.
func nlerp(a, b physics.Quat, t float64) physics.Quat {
	v, w := 1-t, t
	if dot(a, b) < 0 {
		w = -w
	}
	q := physics.Quat{X: weightedSum(a.X, v, b.X, w), Y: weightedSum(a.Y, v, b.Y, w),
		Z: weightedSum(a.Z, v, b.Z, w), W: weightedSum(a.W, v, b.W, w)}
	length := math.Sqrt(dot(q, q))
	if length < 1e-9 {
		return a
	}
	s := 1 / length
	return physics.Quat{X: float64(q.X * s), Y: float64(q.Y * s), Z: float64(q.Z * s), W: float64(q.W * s)}
}

// dot returns the inner product of two quaternions. Here and below, the conversions to float64 forbid
// the compiler to fuse multiplications and additions, so that results are the same on every machine.
func dot(a, b physics.Quat) float64 {
	return float64(a.X*b.X) + float64(a.Y*b.Y) + float64(a.Z*b.Z) + float64(a.W*b.W)
}

// weightedSum returns a*v + b*w.
func weightedSum(a, v, b, w float64) float64 { return float64(a*v) + float64(b*w) }

// spline contains the weights of up to four snapshots. The displayed time is between the middle two.
// The interpolated position of a cube is the weighted sum of its positions in the four. The
// weights are the same for all cubes, so they are computed once per display tick.
type spline [4]float64

// newSpline returns the weights at time moment of snapshots at times t. The curve is a cubic Hermite
// spline through the middle two snapshots. Snapshots contain no velocities, so the slope at each of
// the two is that of the parabola through it and its neighbours, which is exact for free fall. before
// and after report whether the first and the last snapshot exist. If one is missing, both slopes are
// those of the other parabola; if both are, those of the straight line.
func newSpline(t [4]time.Duration, before, after bool, moment time.Duration) (s spline) {
	h := (t[2] - t[1]).Seconds() // the time between the middle two snapshots
	// The cubic Hermite basis functions of u, which is 0 at t[1] and 1 at t[2]: 2u³-3u²+1 and 3u²-2u³ are
	// the weights of the two positions, (u³-2u²+u)h and (u³-u²)h those of the two slopes.
	u := float64(moment-t[1]) / float64(t[2]-t[1])
	uu := float64(u * u)
	uuu := float64(uu * u)
	startWeight, endWeight := float64((uuu-float64(2*uu)+u)*h), float64((uuu-uu)*h)
	first, second := slopes(t, before, after)
	s[1] = float64(2*uuu) - float64(3*uu) + 1
	s[2] = float64(3*uu) - float64(2*uuu)
	for i := range s {
		s[i] += float64(startWeight*first[i]) + float64(endWeight*second[i])
	}
	return s
}

// slopes returns the slopes, per second, at the second and at the third of four points. Each slope is
// given as weights of the four values. before and after are as for newSpline.
func slopes(t [4]time.Duration, before, after bool) (first, second [4]float64) {
	chord := chordSlope(t, 1)
	first, second = chord, chord
	if before {
		first = middleSlope(t, 1)
		second = endSlope(chord, first)
	}
	if after {
		second = middleSlope(t, 2)
		if !before {
			first = endSlope(chord, second)
		}
	}
	return first, second
}

// chordSlope returns the weights of the slope of the straight line from point i to the next one.
func chordSlope(t [4]time.Duration, i int) (w [4]float64) {
	w[i+1] = 1 / (t[i+1] - t[i]).Seconds()
	w[i] = -w[i+1]
	return w
}

// middleSlope returns the weights of the slope at point i of the parabola through it and its neighbours:
// the mean of the slopes of both chords, each weighted by the length of the other.
func middleSlope(t [4]time.Duration, i int) (w [4]float64) {
	left, right := chordSlope(t, i-1), chordSlope(t, i)
	share := float64(t[i]-t[i-1]) / float64(t[i+1]-t[i-1]) // of the right chord
	for k := range w {
		w[k] = float64(left[k]*(1-share)) + float64(right[k]*share)
	}
	return w
}

// endSlope returns the weights of the slope of a parabola at one end of a chord, given that at the other
// end: the slope of the chord is their mean.
func endSlope(chord, other [4]float64) (w [4]float64) {
	for k := range w {
		w[k] = float64(2*chord[k]) - other[k]
	}
	return w
}

// position returns the interpolated position of cube i in metres. Missing frames are nil and have
// weight 0.
func (s *spline) position(i int, frames *[4]*frame.Frame) physics.Vec {
	var p physics.Vec
	for n, w := range s {
		if f := frames[n]; f != nil {
			p = p.AddScaled(forecast.Position(cubeRowAt(f, i)[:]), w/frame.UnitsPerMetre)
		}
	}
	return p
}

// cubeRow is the row of one cube in a snapshot.
type cubeRow = [frame.CubeFields]int32

// cubeRowAt returns the row of cube i, aliasing f.
func cubeRowAt(f *frame.Frame, i int) *cubeRow {
	return (*cubeRow)(f.Table[i*frame.CubeFields:])
}
