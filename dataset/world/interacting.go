package world

// interactingSteps is the number of steps of sleep after which a cube no longer interacts.
//
// A cube interacts if the player pushes, pulls or touches it, or if an interacting cube touches it.
// In Fiedler's demonstration the flag decides which machine simulates the cube. Here it is one more
// bit to send.
const interactingSteps = 100

// markInteracting sets the interacting flag of cube i.
func (s *sim) markInteracting(i int) { s.interacting[i], s.sleptSteps[i] = true, 0 }

// spreadInteracting passes the flag along contacts until no further cube gets it, and clears the
// flag of cubes that have slept for interactingSteps. Contacts between two sleeping cubes, which
// Touching does not list, must not pass it: the cubes would keep each other's flag set permanently.
func (s *sim) spreadInteracting() {
	for changed := true; changed; {
		changed = false
		for a, b := range s.scene.TouchingPairs {
			if s.interacting[a] != s.interacting[b] {
				s.markInteracting(a)
				s.markInteracting(b)
				changed = true
			}
		}
	}
	for i := player + 1; i < cubes; i++ {
		switch {
		case !s.interacting[i]: // there is nothing to clear
		case !s.scene.Body(i).Asleep():
			s.sleptSteps[i] = 0
		default:
			s.sleptSteps[i]++
			if s.sleptSteps[i] == interactingSteps {
				s.interacting[i], s.sleptSteps[i] = false, 0
			}
		}
	}
}
