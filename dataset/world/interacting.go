package world

// A cube interacts if the player pushes, pulls or touches it, or if a cube that
// interacts touches it. The flag drops in the step in which the cube has slept for
// restSteps. In the original it decides which machine simulates the cube; here it is one
// more bit to send.
const restSteps = 100

// touch marks cube i as interacting.
func (s *sim) touch(i int) { s.interacting[i], s.rested[i] = true, 0 }

// spread passes the flag along contacts until no further cube gets it, and clears it
// on cubes that have slept for long. Contacts between sleeping cubes do not pass it:
// two of them would keep each other's flag set for ever.
func (s *sim) spread() {
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
	for i := player + 1; i < cubes; i++ {
		switch {
		case !s.interacting[i]:
		case !s.scene.Body(i).Asleep():
			s.rested[i] = 0
		default:
			s.rested[i]++
			if s.rested[i] == restSteps {
				s.interacting[i], s.rested[i] = false, 0
			}
		}
	}
}
