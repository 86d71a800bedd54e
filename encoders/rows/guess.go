package rows

import "wirelab/dataset/frame"

// Ways to predict a field.
const (
	goesOn   = iota // as it went
	slows           // three quarters of that
	stays           // as it was
	bends           // as it went, and half of what that changed by
	follows         // as the neighbour went
	weighted        // the sum of all that, by weights that are learnt
	ways
)

const (
	features  = 5
	weightOne = 1 << 16
)

// blend is the weights of a prediction.
type blend [features]int32

// guess is a prediction, with what is to be learnt from how it comes out.
type guess struct {
	value  int32
	each   [ways]int32
	off    *[ways]int32 // how far off each way was lately: lengths, in 1/256
	blend  *blend
	inputs [features]int64
	norm   int64
}

// predict predicts a field by the way that was the least off with such a shift.
func (r *rowState) predict(f int, col *column) *guess {
	m, g := r.e.x.m, &r.guess
	b, v := r.start[f], r.was[f]
	g.off = &m.off[f][min(r.ahead(f), paces-1)]
	g.each = [ways]int32{goesOn: col.toward(b, v), stays: b}
	if col.kind == frame.Float32 {
		g.each[slows], g.each[bends], g.each[follows], g.each[weighted] = col.toward(b, col.half(v)), b, b, b
	} else {
		bent, near := r.bent[f], r.neighbour.shift[f]
		g.each[slows] = col.toward(b, v-v/4)
		g.each[bends] = col.toward(b, v+bent/2)
		g.each[follows] = col.toward(b, near)
		g.blend = &m.blends[f][flag(v == 0)]
		g.each[weighted] = col.toward(b, g.weigh(v, bent, near, r.neighbour.bend[f]))
	}
	way := 0
	for w, off := range g.off {
		if off < g.off[way] {
			way = w
		}
	}
	g.value = g.each[way]
	return g
}

// weigh sums up the inputs.
func (g *guess) weigh(v, bent, near, nearBent int32) int32 {
	const most = 1 << 20
	g.inputs = [features]int64{int64(v), int64(bent), int64(near), int64(nearBent), 8}
	g.norm = 256
	sum := int64(weightOne / 2)
	for i, x := range g.inputs {
		x = min(max(x, -most), most)
		g.inputs[i] = x
		sum += x * int64(g.blend[i])
		g.norm += x * x
	}
	return int32(min(max(sum>>16, -1<<31), 1<<31-1))
}

// learn notes how far off each way was. The weights move against the error, as far as
// it is no larger than usual: what collides cannot be predicted, and should not spoil
// the rest (a normalised least mean square, clipped).
func (g *guess) learn(v int32, col *column) {
	if col.kind != frame.Float32 {
		most := int64(4) << min(max(g.off[weighted]>>8, 2), 16)
		wrong := min(max(int64(col.away(v, g.each[weighted])), -most), most)
		for i, x := range g.inputs {
			w := int64(g.blend[i]) + wrong*x*(weightOne/16)/g.norm
			g.blend[i] = int32(min(max(w, -4*weightOne), 4*weightOne))
		}
	}
	for w, each := range g.each {
		off := int32(length(col.away(v, each))) << 8
		g.off[w] += (off - g.off[w]) >> 6
	}
}
