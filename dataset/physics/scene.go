package physics

// Scene is a set of cubes. Most of them sleep, and only awake cubes cost time. It has two uses:
//
// A world places all its cubes once and runs without end.
//
// A forecast sets up a scene from a snapshot and runs a few steps. There a sleeping cube is only a
// position in a grid. Its orientation is requested when an awake cube comes near, and its contacts
// are computed when it is touched, which wakes it.
//
// A scene stores positions and speeds between steps, but no contacts and no impulses. The cost of a
// step is bounded by the parameter Effort. Absurd input costs accuracy but not time, and never
// gives NaN.
//
// Bodies are identified by an index from 0 to n-1.
type Scene struct {
	params        Params
	pose          func(i int) Quat // orientation of a body that was laid
	bodies        []Body           // by index; valid for bodies that are posed, moving or held
	laid          []laidBody       // by index; valid for bodies that were laid
	state         []bodyState
	boxes         []box        // bounding box of each posed body
	touches       []touchCount // contact points of each live body since Reset
	impact        []Impact     // changes of speed by contacts of each live body since Reset
	freeVel       []Vec        // velocity of an active body after this step if it had no contacts
	slot          []int32      // by index of a live body: its index in active, or -1
	live          []int32      // bodies that are moving or held, in the order in which they were added
	posedFromLaid []int32      // bodies that were laid and whose orientation was requested since
	active        []int32      // bodies in the solver in this step: awake ones, then sleepers that were touched
	large         []int32      // live bodies that are too large for the grid
	pairs         []pair       // pairs of cubes that touched in the last step
	laidGrid      grid         // bodies that were laid
	liveGrid      grid         // live bodies, collected in each step
	solver        contactSolver
	budget        workBudget // work that is left in this step
	dt            float64    // duration of the step in seconds
}

// touchCount counts the contact points of a body since Reset, with the floor, with other cubes and
// with held cubes, over all steps of a forecast. The counts wrap in a world that runs without end.
type touchCount struct{ Floor, Cubes, Held uint16 }

// Impact is the change of a body's speed by contacts, in metres per second: the sum over all steps,
// and the largest of one step.
type Impact struct{ Sum, Max float64 }

// add adds the change of one step.
func (m *Impact) add(change float64) {
	m.Sum += change
	m.Max = max(m.Max, change)
}

// laidBody is the position and half the side of a cube that was laid.
type laidBody struct {
	pos  Vec
	half float64
}

// box is an axis-aligned bounding box: centre and half its size.
type box struct{ pos, reach Vec }

// bodyState is the state of a body.
type bodyState uint8

const (
	absent bodyState = iota
	lying            // the body is asleep; only its position is known
	posed            // the body is asleep; its orientation is known too
	moving           // the body is live: it is simulated while awake
	held             // the body is live: it moves as the caller sets it, whatever it hits
)

// NewScene returns an empty scene with memory for n cubes. Call Reset before use: it sets the parameters.
func NewScene(n int) *Scene {
	s := &Scene{
		bodies:        make([]Body, n),
		laid:          make([]laidBody, n),
		state:         make([]bodyState, n),
		boxes:         make([]box, n),
		touches:       make([]touchCount, n),
		impact:        make([]Impact, n),
		freeVel:       make([]Vec, n),
		slot:          make([]int32, n),
		live:          make([]int32, 0, n),
		posedFromLaid: make([]int32, 0, n),
		active:        make([]int32, 0, n),
		pairs:         make([]pair, 0, n),
	}
	s.solver.init(n)
	s.laidGrid.init(n)
	s.liveGrid.init(n)
	return s
}

// Reset empties the scene and sets its parameters. pose returns the orientation of a cube that was
// laid, when it is needed; it may be nil if Lay is not used.
func (s *Scene) Reset(params Params, pose func(i int) Quat) {
	s.params, s.pose = params, pose
	clear(s.state)
	s.live, s.posedFromLaid, s.large, s.pairs = s.live[:0], s.posedFromLaid[:0], s.large[:0], s.pairs[:0]
	s.laidGrid.clear()
	s.solver.spent = 0
}

// Rewind restores the scene to the cubes that were laid since Reset, as they were laid, and removes
// all others.
func (s *Scene) Rewind() {
	for _, i := range s.live {
		s.state[i] = absent
	}
	stillPosed := s.posedFromLaid[:0]
	for _, i := range s.posedFromLaid {
		if s.state[i] == posed { // the body was never woken, so its orientation is still valid
			stillPosed = append(stillPosed, i)
		} else {
			s.state[i] = lying
		}
	}
	s.live, s.posedFromLaid, s.large, s.pairs = s.live[:0], stillPosed, s.large[:0], s.pairs[:0]
	s.solver.spent = 0
}

// SetConverged sets the parameter Converged of the solver until the next Reset.
func (s *Scene) SetConverged(converged float64) { s.params.Converged = converged }

// WorkDone returns the cost of all steps since Reset, in updates of a contact point by the solver.
func (s *Scene) WorkDone() int { return s.solver.spent }

// Lay adds cube i, asleep at pos. half is half its side.
func (s *Scene) Lay(i int, half float64, pos Vec) {
	s.laid[i] = laidBody{pos, half}
	s.state[i] = lying
	s.laidGrid.add(i, pos)
}

// Place adds cube i as a moving body. If Lay added it before, it is woken. half is half its side. still is the
// time in seconds for which the cube has hardly moved; if that is at least the RestTime of the
// scene's parameters, it sleeps from the first step on.
func (s *Scene) Place(i int, half float64, pos Vec, rot Quat, vel, spin Vec, still float64) {
	if s.state[i] == lying {
		s.posedFromLaid = append(s.posedFromLaid, int32(i))
	}
	b := &s.bodies[i]
	*b = Body{Pos: pos, Rot: rot, Vel: vel, Spin: spin, half: half, stillFor: still}
	b.setMass(s.params.Density)
	s.updatePose(i)
	s.addLive(i, moving)
	if half > maxGridHalf {
		s.large = append(s.large, int32(i))
	}
}

// Hold adds cube i, which pushes others but is not pushed. It moves with its Vel and Spin, which the
// caller may set before each step.
func (s *Scene) Hold(i int, half float64, pos Vec, rot Quat) {
	b := &s.bodies[i]
	*b = Body{Pos: pos, Rot: rot, half: half}
	s.updatePose(i)
	s.addLive(i, held)
	s.large = append(s.large, int32(i))
}

// Live returns the cubes that may have moved: those placed or held, and sleepers that were woken, in
// the order in which they were added. The slice is valid until the next step.
func (s *Scene) Live() []int32 { return s.live }

// Body returns cube i, which must be in Live.
func (s *Scene) Body(i int) *Body { return &s.bodies[i] }

// Still returns the time in seconds for which live cube i has hardly moved.
func (s *Scene) Still(i int) float64 { return s.bodies[i].stillFor }

// Touch returns the number of contact points of live cube i since Reset, over all steps.
func (s *Scene) Touch(i int) touchCount { return s.touches[i] }

// Impact returns the sum and the maximum of the changes of live cube i's speed by contacts, over all
// steps since Reset.
func (s *Scene) Impact(i int) Impact { return s.impact[i] }

// Accelerate applies an acceleration, in metres per second squared, to cube i during the next step, and
// wakes it.
func (s *Scene) Accelerate(i int, acceleration Vec) {
	s.wake(i)
	b := &s.bodies[i]
	b.accel = b.accel.Add(acceleration)
	b.stillFor = 0
}

// Twist applies an angular acceleration, in radians per second squared about each axis, to cube i
// during the next step, and wakes it.
func (s *Scene) Twist(i int, acceleration Vec) {
	s.wake(i)
	b := &s.bodies[i]
	b.angularAccel = b.angularAccel.Add(acceleration)
	b.stillFor = 0
}

// TouchingPairs iterates over the pairs of cubes that touched in the last step. At least one of each pair
// was awake.
func (s *Scene) TouchingPairs(yield func(a, b int) bool) {
	for _, p := range s.pairs {
		if a, b := p.split(); !yield(a, b) {
			return
		}
	}
}

// addLive adds body i to the live bodies, as moving or held.
func (s *Scene) addLive(i int, state bodyState) {
	s.state[i], s.touches[i], s.impact[i], s.slot[i] = state, touchCount{}, Impact{}, -1
	s.live = append(s.live, int32(i))
}

// updatePose recomputes the axes and the bounding box of body i from its orientation.
func (s *Scene) updatePose(i int) {
	b := &s.bodies[i]
	b.axes = b.Rot.axes()
	a := &b.axes
	s.boxes[i] = box{b.Pos, Vec{
		float64(b.half * (abs(a[0].X) + abs(a[1].X) + abs(a[2].X))),
		float64(b.half * (abs(a[0].Y) + abs(a[1].Y) + abs(a[2].Y))),
		float64(b.half * (abs(a[0].Z) + abs(a[1].Z) + abs(a[2].Z))),
	}}
}
