package physics

// Scene is a set of cubes under a law. Most of them sleep, and only awake ones cost
// time. It has two uses:
//
// A world places all its cubes once, and goes on for ever.
//
// A forecast sets up a scene from a snapshot and runs a few steps of it. There a
// sleeping cube is a position in a grid; its orientation is read when an awake cube
// comes near, and its contacts are found when it is touched, which wakes it.
//
// A scene remembers positions and speeds from step to step, and nothing else: no
// contacts, no impulses. What a step may cost is bounded (see Rigid.Effort), and
// numbers that make no sense cost accuracy, never time, and never become NaN.
type Scene struct {
	law    Rigid
	pose   func(i int) Quat
	bodies []Body
	placed []place // of each body that was laid
	state  []stage
	boxes  []box        // around each posed body
	touch  []touchCount // what each live body touched since Reset
	impact []Impact     // by how much that changed its speed
	free   []Vec        // the speed that an active body would have without contacts, after this step
	slot   []int32      // of a live body: where in active it is, or -1
	live   []int32      // bodies that move or did so, in order of entry
	seen   []int32      // bodies that were laid and then posed, woken or not
	active []int32      // bodies of this step's solver: those awake, then sleepers just touched
	large  []int32      // bodies that are placed and larger than the grid allows for
	pairs  []pair       // that touched in the last step
	laid   columns      // where sleepers lie
	awake  columns      // where live bodies are, anew in each step
	lcp    lcp
	left   allowance
	step   float64
}

// touchCount counts contact points. In a world that goes on for ever the counts wrap:
// they are for forecasts. Who touches whom there, Touching says.
type touchCount struct{ Floor, Cubes, Held uint16 }

// Impact is by how much contacts changed the speed of a body, in metres per second: all in all, and
// most in one step.
type Impact struct{ Sum, Most float64 }

func (m *Impact) add(change float64) {
	m.Sum += change
	m.Most = max(m.Most, change)
}

// place is where a cube sleeps.
type place struct {
	pos  Vec
	half float64
}

// box is what a body fills along the world's axes: so far from its centre each way.
type box struct{ pos, reach Vec }

// stage is how much is known of a body.
type stage uint8

const (
	absent stage = iota
	lying        // asleep, its place known
	posed        // asleep, its orientation known too
	moving       // live: simulated while awake
	held         // moves as its caller says, whatever it hits
)

// NewScene returns an empty scene for up to n cubes.
func NewScene(n int) *Scene {
	s := &Scene{
		bodies: make([]Body, n),
		placed: make([]place, n),
		state:  make([]stage, n),
		boxes:  make([]box, n),
		touch:  make([]touchCount, n),
		impact: make([]Impact, n),
		free:   make([]Vec, n),
		slot:   make([]int32, n),
		live:   make([]int32, 0, n),
		seen:   make([]int32, 0, n),
		active: make([]int32, 0, n),
		pairs:  make([]pair, 0, n),
	}
	s.lcp.init(n)
	s.laid.init(n)
	s.awake.init(n)
	return s
}

// Reset empties the scene. pose is asked for the orientation of those that are
// laid; who lays none may leave it out.
func (s *Scene) Reset(law Rigid, pose func(i int) Quat) {
	s.law, s.pose = law, pose
	clear(s.state)
	s.live, s.seen, s.large, s.pairs = s.live[:0], s.seen[:0], s.large[:0], s.pairs[:0]
	s.laid.clear()
	s.lcp.spent = 0
}

// Rewind empties the scene of all but what was laid since Reset, which lies again as it was.
func (s *Scene) Rewind() {
	for _, i := range s.live {
		s.state[i] = absent
	}
	kept := s.seen[:0]
	for _, i := range s.seen {
		if s.state[i] == posed { // and so it stays
			kept = append(kept, i)
		} else {
			s.state[i] = lying
		}
	}
	s.live, s.seen, s.large, s.pairs = s.live[:0], kept, s.large[:0], s.pairs[:0]
	s.lcp.spent = 0
}

// SolveTo sets Rigid.Converged until the next Reset.
func (s *Scene) SolveTo(converged float64) { s.law.Converged = converged }

// Spent returns what all steps since Reset cost, in corrections of a contact.
func (s *Scene) Spent() int { return s.lcp.spent }

// Lay puts cube i, of the given half side, to sleep at pos.
func (s *Scene) Lay(i int, half float64, pos Vec) {
	s.placed[i] = place{pos, half}
	s.state[i] = lying
	s.laid.add(i, pos)
}

// Place adds cube i, moving, even if it was laid. Still is for how long it has hardly moved:
// after Rigid.RestTime it sleeps from the first step on.
func (s *Scene) Place(i int, half float64, pos Vec, rot Quat, vel, spin Vec, still float64) {
	if s.state[i] == lying {
		s.seen = append(s.seen, int32(i))
	}
	b := &s.bodies[i]
	*b = Body{Pos: pos, Rot: rot, Vel: vel, Spin: spin, half: half, still: still}
	b.weigh(s.law.Density)
	s.turn(i)
	s.enter(i, moving)
	if half > smallHalf {
		s.large = append(s.large, int32(i))
	}
}

// Hold adds cube i that pushes others but is not pushed. It moves at Vel and
// Spin, which the caller may set before each step.
func (s *Scene) Hold(i int, half float64, pos Vec, rot Quat) {
	b := &s.bodies[i]
	*b = Body{Pos: pos, Rot: rot, half: half}
	s.turn(i)
	s.enter(i, held)
	s.large = append(s.large, int32(i))
}

// Live lists the cubes that moved or may have: those placed and held, and the
// sleepers that were woken. The list is in the order in which they came and
// holds until the next step.
func (s *Scene) Live() []int32 { return s.live }

// Body returns cube i, which must be one of Live: one that was placed always is.
func (s *Scene) Body(i int) *Body { return &s.bodies[i] }

// Still returns for how long, in seconds, live cube i has hardly moved.
func (s *Scene) Still(i int) float64 { return s.bodies[i].still }

// touchCount returns what live cube i touched since Reset, in all steps together.
func (s *Scene) Touch(i int) touchCount { return s.touch[i] }

// Impact returns what contacts did to live cube i since Reset.
func (s *Scene) Impact(i int) Impact { return s.impact[i] }

// Pull applies an acceleration to cube i during the next step, and wakes it.
func (s *Scene) Pull(i int, acceleration Vec) {
	s.wake(i)
	b := &s.bodies[i]
	b.pull = b.pull.Add(acceleration)
	b.still = 0
}

// Twist applies an acceleration of the spin, in radians per second squared about
// each axis, to cube i during the next step, and wakes it.
func (s *Scene) Twist(i int, acceleration Vec) {
	s.wake(i)
	b := &s.bodies[i]
	b.twist = b.twist.Add(acceleration)
	b.still = 0
}

// Touching calls yield with every pair of cubes that touched in the last step, of
// which at least one was awake.
func (s *Scene) Touching(yield func(a, b int) bool) {
	for _, p := range s.pairs {
		if a, b := p.split(); !yield(a, b) {
			return
		}
	}
}

// enter makes body i live.
func (s *Scene) enter(i int, as stage) {
	s.state[i], s.touch[i], s.impact[i], s.slot[i] = as, touchCount{}, Impact{}, -1
	s.live = append(s.live, int32(i))
}

// turn brings what follows from body i's orientation up to date.
func (s *Scene) turn(i int) {
	b := &s.bodies[i]
	b.axes = b.Rot.axes()
	a := &b.axes
	s.boxes[i] = box{b.Pos, Vec{
		float64(b.half * (abs(a[0].X) + abs(a[1].X) + abs(a[2].X))),
		float64(b.half * (abs(a[0].Y) + abs(a[1].Y) + abs(a[2].Y))),
		float64(b.half * (abs(a[0].Z) + abs(a[1].Z) + abs(a[2].Z))),
	}}
}
