package kinetic

import (
	"math"
	"math/bits"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/cubes/forecast"
)

// scene is the state of a frame while it is coded: the baseline, its memo, and the cubes
// coded so far. Motions are scaled to six frames.
type scene struct {
	rows      int
	cur, base []int32
	frames    uint32  // from the baseline to this frame
	reach     float64 // the same in units of six frames
	growth    int     // of ages, from the baseline to this frame
	past      *memo   // of the baseline; nil if it has none
	second    []int32 // a second reference; nil if none
	secondAge uint32  // frames from the second reference to the baseline

	ordering
	flags   []uint8  // of each cube, see isCoded
	spots   []uint16 // of each cube at the baseline, see spotFar
	trackOf []int32  // of each cube: 1 + its index in past.tracks; 0 if it is not tracked
	doneOf  []int32  // of each cube: 1 + its index in done; 0 if it is not in done
	done    []motion // cubes that moved, in the order of coding
	resting grid     // all cubes, where they are in the baseline
	arrived grid     // cubes that moved, where they are now
	found   []int32  // memory for searches

	player playerMotion
	calm   bool // the player is coded, and moved no farther than calmMotion

	simulates bool          // whether there is a forecast, once the player is known
	forecast  []prediction  // of the cubes; nil until the player is coded
	motions   []expectation // the state of each cube's prediction
	mode      forecast.Mode // of the forecast
}

// ordering is the order of coding.
type ordering struct {
	order       []int32  // cubes by distance from the player
	keys, other []uint64 // memory for sorting
}

// playerMotion is the motion of the player: of the step before, and of this one once the
// player is coded.
type playerMotion struct {
	at, move, turn     vec
	spin               quat // the turn, over the whole step
	turn6              quat // the turn, over six frames
	lastMove, lastTurn vec
	lastInverse        quat // the last turn, backwards
}

// prediction is the state of a cube at the end of the forecast.
type prediction struct {
	at      vec // in units of 1/512 m
	as      quat
	speed   vec        // m/s
	spin    vec        // rad/s
	still   float64    // seconds
	touches [3]float64 // contacts with the floor, the player, other cubes
	impact  physics.Impact
}

// expectation is the state of a cube's prediction. Most cubes rest, and predictions of those are
// made only when needed.
type expectation uint8

const (
	rests       expectation = iota // no prediction yet
	isPredicted                    // rests, with a prediction
	moves                          // moved by the simulation
)

// predicted returns the prediction of cube i, once there is a forecast.
func (s *scene) predicted(i int) *prediction {
	o := &s.forecast[i]
	if s.motions[i] == rests {
		q := cube.At(s.base, i)
		*o, s.motions[i] = prediction{at: position(q), as: orientation(q)}, isPredicted
	}
	return o
}

// touched returns a bit for each kind of contact: floor, player, other cubes.
func (o *prediction) touched() (bits int) {
	for k, n := range o.touches {
		if n > 0 {
			bits |= 1 << k
		}
	}
	return bits
}

// motion is the motion of a coded cube and the residual of its prediction.
type motion struct {
	cube       int32
	move, turn vec
	missMove   vec // move less the forecast one
	missTurn   vec
}

const (
	isCoded = 1 << iota
	hasMoved
	isTracked  // by past
	isForecast // to move, or touched
)

// begin prepares the scene for a frame that comes frames after base. cur holds a copy of base when
// reading.
func (s *scene) begin(cur, base []int32, frames uint32, past *memo) {
	s.rows = len(base) / frame.CubeFields
	s.cur, s.base, s.past, s.second = cur, base, past, nil
	s.frames = min(max(frames, 1), maxFrames)
	s.reach = float64(s.frames) / 6
	s.growth, _ = past.growth(s.frames)
	s.flags, s.trackOf, s.doneOf = zeros(s.flags, s.rows), zeros(s.trackOf, s.rows), zeros(s.doneOf, s.rows)
	s.done = s.done[:0]
	if past != nil {
		for k := range past.tracks {
			s.trackOf[past.tracks[k].cube] = int32(k) + 1
			s.flags[past.tracks[k].cube] |= isTracked
		}
	}
	s.resting.reset(s.rows)
	s.arrived.reset(s.rows)
	none := quat{0, 0, 0, 1}
	s.calm, s.mode = false, forecast.Infer
	s.player = playerMotion{at: position(cube.At(base, 0)), spin: none, turn6: none}
	s.player.lastMove, s.player.lastTurn = s.lastMotion(0)
	s.player.lastInverse = s.player.lastTurn.rotation().Conjugate()
	s.sort()
}

// maxFrames bounds the time over which motions are extrapolated.
const maxFrames = 48

func zeros[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n)
	}
	v = v[:n]
	clear(v)
	return v
}

// sort orders the cubes by distance from the player, which comes first, and those at the
// same distance by number.
func (s *scene) sort() {
	s.spots = slices.Grow(s.spots[:0], s.rows)[:s.rows]
	s.keys, s.other = slices.Grow(s.keys[:0], s.rows)[:s.rows], slices.Grow(s.other[:0], s.rows)[:s.rows]
	shift := bits.Len(uint(s.rows))
	p, most := cube.At(s.base, 0), int64(0)
	for i := range s.keys {
		q := cube.At(s.base, i)
		d := cube.Distance2(p, q)
		s.keys[i], most = uint64(d)<<shift|uint64(i), max(most, d)
		if i > 0 {
			s.resting.add(i, q[frame.CubeX], q[frame.CubeY])
		}
		s.spots[i] = spotOf(p, q)
	}
	for low := shift; most > 0; most >>= digitBits {
		sortDigit(s.other, s.keys, low)
		s.keys, s.other = s.other, s.keys
		low += digitBits
	}
	s.order = slices.Grow(s.order[:0], s.rows)[:s.rows]
	for k, key := range s.keys {
		s.order[k] = int32(key & (1<<shift - 1))
	}
}

const digitBits = 8

// sortDigit copies list to sorted, in the order of the digit that begins at bit low (a stable
// counting sort).
func sortDigit(sorted, list []uint64, low int) {
	var ends [1 << digitBits]int32
	for _, key := range list {
		ends[key>>low%(1<<digitBits)]++
	}
	sum := int32(0)
	for d, n := range ends {
		ends[d] = sum
		sum += n
	}
	for _, key := range list {
		at := &ends[key>>low%(1<<digitBits)]
		sorted[*at] = key
		*at++
	}
}

// last returns the track of cube i in the baseline's memo, nil if the cube did not move.
func (s *scene) last(i int) *track {
	if k := s.trackOf[i]; k > 0 {
		return &s.past.tracks[k-1]
	}
	return nil
}

// lastMotion returns the cube's motion and turn of the step before.
func (s *scene) lastMotion(i int) (move, turn vec) {
	if t := s.last(i); t != nil {
		return fromInt16(t.move, 1), fromInt16(t.turn, turnSteps)
	}
	return vec{}, vec{}
}

// record stores the motion of cube i after it was coded.
func (s *scene) record(i int) {
	s.flags[i] |= isCoded
	q, base := cube.At(s.cur, i), cube.At(s.base, i)
	if i == 0 {
		s.calm = !isFar(base, q[frame.CubeX], q[frame.CubeY], calmMotion)
	}
	if cube.SamePose(q, base) {
		return
	}
	s.flags[i] |= hasMoved
	per := 1 / s.reach
	m := motion{cube: int32(i), move: position(q).minus(position(base)).times(per)}
	to := orientation(q)
	if !cube.SameOrientation(q, base) {
		m.turn = turnBetween(orientation(base), to).times(per)
	}
	if s.forecast != nil && i > 0 {
		o := s.predicted(i)
		m.missMove = position(q).minus(o.at).times(per)
		m.missTurn = turnBetween(o.as, to).times(per)
	} else {
		move, turn := s.lastMotion(i)
		m.missMove, m.missTurn = m.move.minus(move), m.turn.minus(turn)
	}
	s.done = append(s.done, m)
	s.doneOf[i] = int32(len(s.done))
	if i == 0 {
		s.player.move, s.player.turn = m.move, m.turn
		s.player.spin, s.player.turn6 = m.turn.times(s.reach).rotation(), m.turn.rotation()
	} else {
		s.arrived.add(i, q[frame.CubeX], q[frame.CubeY])
	}
}

// writeMemo writes the memo of a completely coded frame.
func (s *scene) writeMemo(m *memo) {
	m.player, m.leadFrames, m.mode = *cube.At(s.base, 0), s.frames, s.mode
	_, m.partFrames = s.past.growth(s.frames)
	for i := range m.ages {
		m.ages[i] = uint8(s.past.age(i).next(s.flags[i]&hasMoved != 0, s.growth, cube.At(s.base, i)[frame.CubeInteracting]))
	}
	for k := range s.done {
		if len(m.tracks) == maxTracks(s.rows) {
			break
		}
		d := &s.done[k]
		t := track{cube: d.cube, move: toInt16(d.move, 1), turn: toInt16(d.turn, turnSteps), miss: packAll(d.missMove, d.missTurn)}
		if last := s.last(int(d.cube)); last != nil {
			t.missBefore = last.miss
		}
		if s.forecast != nil {
			s.recordSpeed(&t, d)
		}
		m.tracks = append(m.tracks, t)
	}
}

// recordSpeed stores the forecast's speed at the end of the frame, corrected by the
// residual.
func (s *scene) recordSpeed(t *track, d *motion) {
	o, q := s.predicted(int(d.cube)), cube.At(s.cur, int(d.cube))
	rate := 10 / s.reach
	miss, missTurn := position(q).minus(o.at), turnBetween(o.as, orientation(q))
	t.residual = packAll(miss.times(1/s.reach), missTurn.times(1/s.reach))
	t.touched = uint8(o.touched() | log2Class(o.touches[0]+o.touches[1]+o.touches[2], 7)<<3)
	t.still = uint8(min(max(float64(o.still*60)+0.5, 0), 255))
	t.speed = toInt16(o.speed.plus(miss.times(rate/frame.UnitsPerMetre)), speedSteps)
	t.spin = toInt16(o.spin.plus(missTurn.times(rate/turnUnit)), speedSteps)
}

// log2Class returns the number of bits of the integer part of x, at most top.
func log2Class(x float64, top int) int {
	return min(bits.Len32(uint32(min(max(x, 0), 1<<30))), top)
}

// isqrt returns the integer part of a square root.
func isqrt(x int64) int { return int(math.Sqrt(float64(x))) }

// grid is a spatial hash of the cubes. A cell is as wide as the search radius; cells
// wrap around, so no bounds are needed.
type grid struct {
	head     [gridSide * gridSide]int32 // 1 + the cube added last; 0: none
	nonEmpty [gridSide * gridSide]bool  // whether this cell or a neighbour holds any
	next     []int32
}

const (
	cellShift = 9 // cells of 512 units, a metre
	gridSide  = 64
	// maxVisits bounds the work where all cubes are in one place.
	maxVisits = 200
)

// reset empties the grid and makes room for n cubes.
func (g *grid) reset(n int) {
	clear(g.head[:])
	clear(g.nonEmpty[:])
	if cap(g.next) < n {
		g.next = make([]int32, n)
	}
	g.next = g.next[:n]
}

func cellOf(x, y int32) (cx, cy int32) { return x >> cellShift, y >> cellShift }

func slot(cx, cy int32) int32 { return cy&(gridSide-1)*gridSide + cx&(gridSide-1) }

// add puts cube i at x, y.
func (g *grid) add(i int, x, y int32) {
	cx, cy := cellOf(x, y)
	s := slot(cx, cy)
	if g.head[s] == 0 {
		for dy := int32(-1); dy <= 1; dy++ {
			for dx := int32(-1); dx <= 1; dx++ {
				g.nonEmpty[slot(cx+dx, cy+dy)] = true
			}
		}
	}
	g.next[i] = g.head[s]
	g.head[s] = int32(i) + 1
}

// search appends the cubes in the cells around x, y: all within 512 units and some
// beyond, at most maxVisits.
func (g *grid) search(x, y int32, found []int32) []int32 {
	cx, cy := cellOf(x, y)
	if !g.nonEmpty[slot(cx, cy)] {
		return found
	}
	for dy := int32(-1); dy <= 1; dy++ {
		for dx := int32(-1); dx <= 1; dx++ {
			for j := g.head[slot(cx+dx, cy+dy)]; j > 0; j = g.next[j-1] {
				if len(found) == maxVisits {
					return found
				}
				found = append(found, j-1)
			}
		}
	}
	return found
}
