package world

// A cube interacts while the player has to do with it: pushed, pulled, touched,
// or touched by a cube that interacts, through any number of cubes. The flag
// drops in the step in which the cube has slept for restSteps. In the original it decides which
// machine simulates the cube; here it is one more bit to send.
const restSteps = 100

// touch marks cube i as interacting.
func (s *Sim) touch(i int) { s.interacting[i], s.rested[i] = true, 0 }

// spread passes the flag on along contacts until nobody new has it, and takes it
// from those who have rested for long. Contacts between sleepers pass nothing
// on: two resting neighbours would keep each other's flag up for ever.
func (s *Sim) spread() {
	for again := true; again; {
		again = false
		for a, b := range s.scene.Touching {
			if s.interacting[a] != s.interacting[b] {
				s.touch(a)
				s.touch(b)
				again = true
			}
		}
	}
	for i := player + 1; i < Cubes; i++ {
		switch {
		case !s.interacting[i]:
		case !s.scene.Body(i).Asleep():
			s.rested[i] = 0
		default:
			if s.rested[i]++; s.rested[i] == restSteps {
				s.interacting[i], s.rested[i] = false, 0
			}
		}
	}
}
