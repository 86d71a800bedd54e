package physics

import (
	"math"
	"slices"
)

// Contacts are made ahead of time: between bodies as far apart as they may come
// together in one step, so that even at full speed they stop at each other's
// surface and not inside.
const (
	margin   = 0.02 // metres, however slow they are
	farthest = 0.1  // for small cubes, who find each other in the grid only so far away
	sqrt3    = 1.7320508075688772
)

// reach returns how wide a gap between a and b matters in this step.
func (w *World) reach(a, b *Body) float64 {
	r := margin + float64(b.Vel.Sub(a.Vel).Length()*w.cfg.Step)
	if a.half <= smallHalf && b.half <= smallHalf {
		return min(r, farthest)
	}
	return r
}

// floorReach returns how high above the floor a corner of b may be and still hit
// it in this step.
func (w *World) floorReach(b *Body) float64 {
	corner := float64(b.Spin.Length() * b.half * sqrt3)
	return margin + float64(w.cfg.Step*(max(-b.Vel.Z, 0)+corner))
}

// The grid: cells of a size that two small cubes can only touch from the same
// cell or from neighbouring ones. Far cells share a list (indices wrap), which
// costs a useless look now and then but needs no bounds.
const (
	cellSize  = 0.8
	smallHalf = 0.2 // 2 * smallHalf * sqrt3 + farthest < cellSize
	gridX     = 32  // powers of two; x and y
	gridZ     = 8
)

type grid struct {
	head []int32 // first small body of a cell, -1 if none
	next []int32 // next body of the same cell
}

func (g *grid) init() { g.head = make([]int32, gridX*gridX*gridZ) }

func coordinate(x float64) int32 { return int32(math.Floor(x / cellSize)) }

func cellAt(x, y, z int32) int32 {
	return x&(gridX-1) + gridX*(y&(gridX-1)+gridX*(z&(gridZ-1)))
}

// fill files every small body under its cell.
func (w *World) fill() {
	for i := range w.grid.head {
		w.grid.head[i] = -1
	}
	for i := range w.bodies {
		b := &w.bodies[i]
		if b.half > smallHalf {
			continue
		}
		c := cellAt(coordinate(b.Pos.X), coordinate(b.Pos.Y), coordinate(b.Pos.Z))
		w.grid.next[i], w.grid.head[c] = w.grid.head[c], int32(i)
	}
}

// findPairs lists, in order, all pairs that are near enough to touch and of
// which one is awake. (A sleeper's contacts are remembered, but one that was laid
// to sleep by hand has none yet, and whoever wakes it in this very step must not
// press it through the floor.)
func (w *World) findPairs() {
	w.fill()
	w.pairs = w.pairs[:0]
	for i := range w.bodies {
		b := &w.bodies[i]
		if (!b.asleep || b.laid) && b.lowest() < w.floorReach(b) {
			w.pairs = append(w.pairs, pair(i)<<16|floorID)
		}
		b.laid = false
		if b.half > smallHalf {
			w.pairWithAll(i)
		} else if !b.asleep {
			w.pairWithNeighbours(i)
		}
	}
	slices.Sort(w.pairs)
}

// pairWithAll pairs a large body, of which there are few, with every other.
func (w *World) pairWithAll(i int) {
	for j := range w.bodies {
		large := w.bodies[j].half > smallHalf
		if j == i || (large && j < i) || (w.bodies[i].asleep && w.bodies[j].asleep) {
			continue
		}
		w.pairIfNear(i, j)
	}
}

// pairWithNeighbours pairs an awake small body with the small ones in its cell
// and the 26 around it. Two awake ones find each other: the lower number counts.
func (w *World) pairWithNeighbours(i int) {
	p := w.bodies[i].Pos
	x, y, z := coordinate(p.X), coordinate(p.Y), coordinate(p.Z)
	for dz := int32(-1); dz <= 1; dz++ {
		for dy := int32(-1); dy <= 1; dy++ {
			for dx := int32(-1); dx <= 1; dx++ {
				for j := w.grid.head[cellAt(x+dx, y+dy, z+dz)]; j >= 0; j = w.grid.next[j] {
					if int(j) > i || (int(j) < i && w.bodies[j].asleep) {
						w.pairIfNear(i, int(j))
					}
				}
			}
		}
	}
}

// pairIfNear lists the pair if the spheres around the two cubes come within
// reach of each other.
func (w *World) pairIfNear(i, j int) {
	a, b := &w.bodies[i], &w.bodies[j]
	reach := float64((a.half+b.half)*sqrt3) + w.reach(a, b)
	if d := a.Pos.Sub(b.Pos); d.Dot(d) <= float64(reach*reach) {
		w.pairs = append(w.pairs, pairOf(i, j))
	}
}
