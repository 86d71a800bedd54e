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

// setRow sets p to the pose that a row of a cube snapshot encodes. residual is what was rounded off the values of the
// row, nil if nothing was.
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
	startSlope, endSlope := float64((uuu-float64(2*uu)+u)*h), float64((uuu-uu)*h)
	first, second := slopes(t, before, after)
	s[1] = float64(2*uuu) - float64(3*uu) + 1
	s[2] = float64(3*uu) - float64(2*uuu)
	for i := range s {
		s[i] += float64(startSlope*first[i]) + float64(endSlope*second[i])
	}
	return s
}

// slopes returns the slopes, per second, at the second and at the third of four points. Each slope is
// given as weights of the four values. before and after are as for newSpline.
func slopes(t [4]time.Duration, before, after bool) (first, second [4]float64) {
	chord := 1 / (t[2] - t[1]).Seconds() // the slope of the straight line is (value 2 - value 1) * chord
	first = [4]float64{0, -chord, chord, 0}
	second = first
	if before {
		left := parabola(t[0], t[1], t[2])
		first = [4]float64{left[1][0], left[1][1], left[1][2], 0}
		second = [4]float64{left[2][0], left[2][1], left[2][2], 0}
	}
	if after {
		right := parabola(t[1], t[2], t[3])
		second = [4]float64{0, right[1][0], right[1][1], right[1][2]}
		if !before {
			first = [4]float64{0, right[0][0], right[0][1], right[0][2]}
		}
	}
	return first, second
}

// parabola returns the slopes of the parabola through three points at times a, b and c. w[i] contains
// the weights of the three values for the slope at point i: the derivative of Lagrange's
// interpolation formula.
func parabola(a, b, c time.Duration) (w [3][3]float64) {
	t := [3]float64{(a - b).Seconds(), 0, (c - b).Seconds()}
	for j := range t {
		k, l := (j+1)%3, (j+2)%3 // the two other points
		denominator := float64((t[j] - t[k]) * (t[j] - t[l]))
		for i := range t {
			w[i][j] = (t[i] - t[k] + t[i] - t[l]) / denominator
		}
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
