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

// scene is the state of a frame while it is coded: the baseline, its memo, and the cubes coded so
// far. Motions are scaled to six frames, the age of the baseline in the walk-off, so that the nets
// work for baselines of any age.
type scene struct {
	rows           int     // number of cubes, the player included
	cur, base      []int32 // tables of the frame and of the baseline
	baselineFrames uint32  // frames from the baseline to this frame, 1 to maxFrames
	baselineAge    float64 // the same in units of six frames
	ageGrowth      int     // by how much ages grow from the baseline to this frame, see age
	baseMemo       *memo   // of the baseline; nil if it has none
	second         []int32 // table of a second, older reference; nil if none
	secondAge      uint32  // frames from the second reference to the baseline

	ordering
	flags       []uint8  // of each cube, see isCoded
	quietInfo   []uint16 // of each cube at the baseline, see quietFar
	trackIndex  []int32  // of each cube: 1 + its index in baseMemo.tracks; 0 if it has no track
	motionIndex []int32  // of each cube: 1 + its index in motions; 0 if it has not moved
	motions     []motion // of cubes that moved, in the order of coding
	baseGrid    grid     // all cubes but the player, at their positions in the baseline
	movedGrid   grid     // coded cubes that moved, at their new positions
	found       []int32  // result of the last grid search

	player       playerMotion // motion of the player, cube 0
	playerIsSlow bool         // the player is coded, and moved less than slowPlayerMotion

	simulates        bool              // kinetic: there is a forecast as soon as the player is coded
	forecast         []prediction      // of each cube, see predicted; nil until the player is coded
	predictionStates []predictionState // of each cube: whether its element of forecast is valid
	mode             forecast.Mode     // the player's force, as the simulation found it
}

// ordering is the order in which cubes are coded.
type ordering struct {
	order                 []int32  // cubes by distance from the player
	sortKeys, sortScratch []uint64 // memory of sortByDistance
}

// playerMotion is the motion of the player since the baseline, known once the player is coded, and
// its motion before the baseline (last...), both scaled to six frames.
type playerMotion struct {
	pos                 vec  // position at the baseline
	move, turn          vec  // position and rotation vector since the baseline
	stepRotation        quat // the rotation since the baseline, not scaled
	sixFrameRotation    quat // turn as a quaternion: the rotation scaled to six frames
	lastMove, lastTurn  vec  // motion before the baseline; 0 if unknown
	lastInverseRotation quat // the inverse of lastTurn, as a quaternion
}

// prediction is the state of a cube at the end of the forecast.
type prediction struct {
	pos          vec            // in units of 1/512 m
	rot          quat           // orientation
	speed        vec            // in m/s at the end
	spin         vec            // in rad/s at the end
	stillSeconds float64        // seconds for which the cube has hardly moved
	contacts     [3]float64     // contacts with the floor, the player, other cubes
	impact       physics.Impact // changes of its speed by contacts, in m/s
}

// predictionState is the state of a cube's element in scene.forecast. Most cubes rest, and their
// predictions are computed only when needed.
type predictionState uint8

const (
	restingUnpredicted predictionState = iota // forecast to rest; the element is undefined
	restingPredicted                          // forecast to rest; the element is valid
	simulated                                 // moved by the simulation; the element is valid
)

// predicted returns the forecast of cube i. A resting cube is predicted to keep its pose. The player
// must have been coded, and s.forecast must not be nil.
func (s *scene) predicted(i int) *prediction {
	o := &s.forecast[i]
	if s.predictionStates[i] == restingUnpredicted {
		q := cube.At(s.base, i)
		*o, s.predictionStates[i] = prediction{pos: position(q), rot: orientation(q)}, restingPredicted
	}
	return o
}

// contactBits returns a bit for each kind of contact: 1 floor, 2 player, 4 other cubes.
func (o *prediction) contactBits() (bits int) {
	for k, n := range o.contacts {
		if n > 0 {
			bits |= 1 << k
		}
	}
	return bits
}

// motion is the motion of a coded cube and the residual of its prediction, scaled to six frames.
type motion struct {
	cube         int32 // number of the cube
	move, turn   vec   // change of position and rotation vector since the baseline
	residualMove vec   // move minus its prediction
	residualTurn vec   // the rotation from the predicted to the true orientation
}

// Bits of scene.flags.
const (
	isCoded    = 1 << iota
	hasMoved   // since the baseline; set when the cube is coded
	isTracked  // the baseline's memo has a track of the cube
	isForecast // the simulation has a result for the cube: it moves, or was touched
)

// begin prepares the scene for the frame cur, which is the given number of frames later than base and
// is coded against base and its memo, past (nil if none). For decoding cur starts as a copy of base.
func (s *scene) begin(cur, base []int32, frames uint32, past *memo) {
	s.rows = len(base) / frame.CubeFields
	s.cur, s.base, s.baseMemo, s.second = cur, base, past, nil
	s.baselineFrames = min(max(frames, 1), maxFrames)
	s.baselineAge = float64(s.baselineFrames) / 6
	s.ageGrowth, _ = past.ageUnits(s.baselineFrames)
	s.flags = zeros(s.flags, s.rows)
	s.trackIndex, s.motionIndex = zeros(s.trackIndex, s.rows), zeros(s.motionIndex, s.rows)
	s.motions = s.motions[:0]
	if past != nil {
		for k := range past.tracks {
			s.trackIndex[past.tracks[k].cube] = int32(k) + 1
			s.flags[past.tracks[k].cube] |= isTracked
		}
	}
	s.baseGrid.reset(s.rows)
	s.movedGrid.reset(s.rows)
	identity := quat{0, 0, 0, 1}
	s.playerIsSlow, s.mode = false, forecast.Infer
	s.player = playerMotion{pos: position(cube.At(base, 0)), stepRotation: identity, sixFrameRotation: identity}
	s.player.lastMove, s.player.lastTurn = s.lastMotion(0)
	s.player.lastInverseRotation = s.player.lastTurn.quaternion().Conjugate()
	s.sortByDistance()
}

// maxFrames bounds the time over which motions are extrapolated: 0.8 s at 60 Hz.
const maxFrames = 48

// zeros returns a slice of n zero elements. It reuses v if v has the capacity.
func zeros[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n)
	}
	v = v[:n]
	clear(v)
	return v
}

// sortByDistance sets s.order to the cubes by distance from the player at the baseline, and by
// number if the distance is the same. In the same pass over the cubes it fills s.baseGrid and
// s.quietInfo. A sort key is the squared distance in the upper bits and the number below them; a
// radix sort orders the keys by their distances alone and keeps the order of numbers.
func (s *scene) sortByDistance() {
	s.quietInfo = slices.Grow(s.quietInfo[:0], s.rows)[:s.rows]
	s.sortKeys = slices.Grow(s.sortKeys[:0], s.rows)[:s.rows]
	s.sortScratch = slices.Grow(s.sortScratch[:0], s.rows)[:s.rows]
	shift := bits.Len(uint(s.rows))                // bits of a cube's number
	p, maxDistance := cube.At(s.base, 0), int64(0) // p: the player
	for i := range s.sortKeys {
		q := cube.At(s.base, i)
		d := cube.Distance2(p, q)
		s.sortKeys[i], maxDistance = uint64(d)<<shift|uint64(i), max(maxDistance, d)
		if i > 0 {
			s.baseGrid.add(i, q[frame.CubeX], q[frame.CubeY])
		}
		s.quietInfo[i] = packQuietInfo(p, q)
	}
	// One pass for each digit of the largest distance, the lowest digit first.
	for firstBit := shift; maxDistance > 0; maxDistance >>= digitBits {
		sortDigit(s.sortScratch, s.sortKeys, firstBit)
		s.sortKeys, s.sortScratch = s.sortScratch, s.sortKeys
		firstBit += digitBits
	}
	s.order = slices.Grow(s.order[:0], s.rows)[:s.rows]
	for k, key := range s.sortKeys {
		s.order[k] = int32(key & (1<<shift - 1))
	}
}

// digitBits is the width of a digit of the radix sort.
const digitBits = 8

// sortDigit copies list to sorted in the order of the digit at bits firstBit to firstBit+7. It is a
// stable counting sort.
func sortDigit(sorted, list []uint64, firstBit int) {
	var starts [1 << digitBits]int32
	for _, key := range list {
		starts[key>>firstBit%(1<<digitBits)]++
	}
	sum := int32(0)
	for d, n := range starts {
		starts[d] = sum
		sum += n
	}
	for _, key := range list {
		next := &starts[key>>firstBit%(1<<digitBits)]
		sorted[*next] = key
		*next++
	}
}

// lastTrack returns the track of cube i in the baseline's memo, nil if it has none.
func (s *scene) lastTrack(i int) *track {
	if k := s.trackIndex[i]; k > 0 {
		return &s.baseMemo.tracks[k-1]
	}
	return nil
}

// lastMotion returns the motion and the turn of cube i before the baseline, 0 without a track.
func (s *scene) lastMotion(i int) (move, turn vec) {
	if t := s.lastTrack(i); t != nil {
		return fromInt16(t.move, 1), fromInt16(t.turn, turnSteps)
	}
	return vec{}, vec{}
}

// recordCube adds cube i, which has just been coded, to the scene: its motion, its residual and its
// new position are features of the cubes that follow and part of the memo. Without a forecast (in
// kinetic-lite, and for the player) the prediction is the last motion.
func (s *scene) recordCube(i int) {
	s.flags[i] |= isCoded
	q, base := cube.At(s.cur, i), cube.At(s.base, i)
	if i == 0 {
		s.playerIsSlow = !isFar(base, q[frame.CubeX], q[frame.CubeY], slowPlayerMotion)
	}
	if cube.SamePose(q, base) {
		return
	}
	s.flags[i] |= hasMoved
	toSixFrames := 1 / s.baselineAge // scales a motion since the baseline to six frames
	m := motion{cube: int32(i), move: position(q).minus(position(base)).times(toSixFrames)}
	rot := orientation(q)
	if !cube.SameOrientation(q, base) {
		m.turn = turnBetween(orientation(base), rot).times(toSixFrames)
	}
	if s.forecast != nil && i > 0 {
		o := s.predicted(i)
		m.residualMove = position(q).minus(o.pos).times(toSixFrames)
		m.residualTurn = turnBetween(o.rot, rot).times(toSixFrames)
	} else {
		move, turn := s.lastMotion(i)
		m.residualMove, m.residualTurn = m.move.minus(move), m.turn.minus(turn)
	}
	s.motions = append(s.motions, m)
	s.motionIndex[i] = int32(len(s.motions))
	if i == 0 {
		s.player.move, s.player.turn = m.move, m.turn
		s.player.stepRotation, s.player.sixFrameRotation = m.turn.times(s.baselineAge).quaternion(), m.turn.quaternion()
	} else {
		s.movedGrid.add(i, q[frame.CubeX], q[frame.CubeY])
	}
}

// writeMemo writes the memo of the frame to m, whose adaptive weights are already set. All cubes
// must have been coded. If more than maxTracks cubes moved, only the first of s.motions get tracks: those nearest to
// the player, because cubes are coded in the order of their distance from it.
func (s *scene) writeMemo(m *memo) {
	m.basePlayer, m.baselineFrames, m.mode = *cube.At(s.base, 0), s.baselineFrames, s.mode
	_, m.leftoverFrames = s.baseMemo.ageUnits(s.baselineFrames)
	for i := range m.ages {
		m.ages[i] = uint8(s.baseMemo.age(i).next(s.flags[i]&hasMoved != 0, s.ageGrowth,
			cube.At(s.base, i)[frame.CubeInteracting]))
	}
	for k := range s.motions {
		if len(m.tracks) == maxTracks(s.rows) { // further cubes have none
			break
		}
		moved := &s.motions[k]
		t := track{cube: moved.cube, move: toInt16(moved.move, 1), turn: toInt16(moved.turn, turnSteps),
			residual: packResiduals(moved.residualMove, moved.residualTurn)}
		if last := s.lastTrack(int(moved.cube)); last != nil {
			t.residualBefore = last.residual
		}
		if s.forecast != nil {
			s.setForecastFields(&t, moved)
		}
		m.tracks = append(m.tracks, t)
	}
}

// setForecastFields sets the fields of t, the track of the cube that moved, that come from its (refined)
// forecast: the forecast's residual, contacts and still time, and the speed and spin at this frame. These are
// the forecast's plus the residual divided by the time since the baseline.
func (s *scene) setForecastFields(t *track, moved *motion) {
	forecasted, q := s.predicted(int(moved.cube)), cube.At(s.cur, int(moved.cube))
	// One divided by the seconds since the baseline: baselineAge counts periods of six frames, or 0.1 s.
	perSecond := 10 / s.baselineAge
	residual, residualTurn := position(q).minus(forecasted.pos), turnBetween(forecasted.rot, orientation(q))
	t.refinedResidual = packResiduals(residual.times(1/s.baselineAge), residualTurn.times(1/s.baselineAge))
	t.contacts = uint8(forecasted.contactBits() | log2Class(forecasted.contacts[0]+forecasted.contacts[1]+forecasted.contacts[2], 7)<<3)
	t.stillFrames = uint8(min(max(float64(forecasted.stillSeconds*60)+0.5, 0), 255))
	t.speed = toInt16(forecasted.speed.plus(residual.times(perSecond/frame.UnitsPerMetre)), speedSteps)
	t.spin = toInt16(forecasted.spin.plus(residualTurn.times(perSecond/turnUnit)), speedSteps)
}

// log2Class returns the number of bits of the integer part of x: 0 below 1, 1 below 2, 2 below 4
// and so on, at most maxClass.
func log2Class(x float64, maxClass int) int {
	return min(bits.Len32(uint32(min(max(x, 0), 1<<30))), maxClass)
}

// isqrt returns the integer part of the square root of x.
func isqrt(x int64) int { return int(math.Sqrt(float64(x))) }

// grid is a spatial hash of cubes by x and y: linked lists of the cubes in each cell. A cell is as
// wide as the search radius. Cells wrap around every 64 m, so positions need no bounds, but a search
// can also find cubes that are far away.
type grid struct {
	head         [gridSide * gridSide]int32 // of each cell: 1 + the cube added last; 0 if empty
	occupiedNear [gridSide * gridSide]bool  // of each cell: it or one of its 8 neighbours holds a cube
	next         []int32                    // of each cube: 1 + the next cube of its cell; 0 at the end
}

const (
	cellShift = 9  // a cell is 512 units wide, a metre
	gridSide  = 64 // cells on each side
	// maxVisits bounds the cubes that a search returns, and so the work where all cubes are in
	// one place.
	maxVisits = 200
)

// reset empties the grid and makes room for cubes 0 to n-1.
func (g *grid) reset(n int) {
	clear(g.head[:])
	clear(g.occupiedNear[:])
	if cap(g.next) < n {
		g.next = make([]int32, n)
	}
	g.next = g.next[:n]
}

// cellCoordinates returns the cell of a position, before it wraps around.
func cellCoordinates(x, y int32) (cx, cy int32) { return x >> cellShift, y >> cellShift }

// cellIndex returns the index of a cell, 0 to gridSide*gridSide-1.
func cellIndex(cx, cy int32) int32 { return cy&(gridSide-1)*gridSide + cx&(gridSide-1) }

// add adds cube i to the list of the cell at x, y. The list begins at head and continues in next, which hold 1 + a
// cube's number, or 0 at the end.
func (g *grid) add(i int, x, y int32) {
	cx, cy := cellCoordinates(x, y)
	s := cellIndex(cx, cy)
	if g.head[s] == 0 { // the first cube of the cell: mark the cells around it
		for dy := int32(-1); dy <= 1; dy++ {
			for dx := int32(-1); dx <= 1; dx++ {
				g.occupiedNear[cellIndex(cx+dx, cy+dy)] = true
			}
		}
	}
	g.next[i] = g.head[s]
	g.head[s] = int32(i) + 1
}

// search appends to found the cubes in the 3x3 cells around x, y: all within 512 units and some
// farther away, but at most maxVisits.
func (g *grid) search(x, y int32, found []int32) []int32 {
	cx, cy := cellCoordinates(x, y)
	if !g.occupiedNear[cellIndex(cx, cy)] {
		return found
	}
	for dy := int32(-1); dy <= 1; dy++ {
		for dx := int32(-1); dx <= 1; dx++ {
			for j := g.head[cellIndex(cx+dx, cy+dy)]; j > 0; j = g.next[j-1] {
				if len(found) == maxVisits {
					return found
				}
				found = append(found, j-1)
			}
		}
	}
	return found
}
