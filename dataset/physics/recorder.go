package physics

// Rigid is the law of a Scene: stiff contacts that stick, solved once a step.
// Lengths are metres, times seconds, masses kilograms.
type Rigid struct {
	Gravity float64 // metres per second squared, downwards
	Density float64 // kilograms per cubic metre

	ERP         float64 // share of an overlap to be undone in one step ("error reduction")
	CFM         float64 // how much a contact gives: speed times time per unit of impulse ("constraint force mixing")
	Layer       float64 // depth up to which an overlap is left alone
	Correcting  float64 // speed at which an overlap is undone at most
	MaxFriction float64 // newtons of friction at most, whatever the pressure
	Iterations  int     // how often the solver goes over all contacts
	Converged   float64 // metres per second: an island in which no speed changes by more in a sweep is solved
	Effort      int     // bounds what a step may cost, contacts left out and iterations cut short; 1 is what a forecast may
	Relaxation  float64 // by how much each correction overshoots, to converge sooner; 1 is none

	Damping     float64 // share of speed and of spin lost per step
	DampedAbove float64 // speeds and spins below are not damped
	MaxSpin     float64 // radians per second, at the start of a step
	MaxSpeed    float64 // metres per second, at the end of one

	// A cube that stays below both speeds for RestTime falls asleep.
	RestSpeed, RestSpin, RestTime float64
}

// Recorder returns the law that the walk-off's recordings obey: Fiedler's
// demonstration on the Open Dynamics Engine ("Networked Physics", 2014). There
// friction is not Coulomb's but a constant force limit, so high that a cube
// neither slides nor rolls where it touches.
func Recorder() Rigid {
	return Rigid{
		Gravity: 20, Density: 1,
		ERP: 0.25, CFM: 0.001, Layer: 0.01, Correcting: 250, MaxFriction: 200,
		Iterations: 64, Converged: 2e-4, Effort: 1, Relaxation: 1.3,
		Damping: 0.01, DampedAbove: 0.01, MaxSpin: 16, MaxSpeed: 64,
		RestSpeed: 0.25, RestSpin: 0.25, RestTime: 0.1,
	}
}
