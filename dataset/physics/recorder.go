package physics

// Params are the parameters of a Scene: stiff contacts with friction, solved once a step. Units are
// metres, seconds and kilograms.
type Params struct {
	Gravity float64 // downwards, metres per second squared
	Density float64 // kilograms per cubic metre

	ERP                float64 // fraction of an overlap to correct in one step ("error reduction parameter")
	CFM                float64 // softness ("constraint force mixing"): contacts yield at CFM/step duration, in speed per unit of impulse
	UncorrectedDepth   float64 // depth of overlap that is not corrected
	MaxCorrectionSpeed float64 // maximum speed of the correction of an overlap
	MaxFriction        float64 // maximum friction in newtons, independent of the pressure
	Iterations         int     // maximum number of sweeps of the solver over all contacts
	Converged          float64 // metres per second: an island is solved when no speed changes by more in a sweep
	Effort             int     // factor on the limits of contacts and sweeps in a step; 1 suits a forecast
	Relaxation         float64 // over-relaxation factor of the solver; 1 means none

	Damping     float64 // fraction of speed and of spin lost per step
	DampedAbove float64 // speeds and spins below DampedAbove are not damped
	MaxSpin     float64 // limit of spins at the start of a step, radians per second
	MaxSpeed    float64 // limit of speeds at the end of a step, metres per second

	// A cube whose speed and spin stay below RestSpeed (m/s) and RestSpin (rad/s) for RestTime seconds
	// falls asleep.
	RestSpeed, RestSpin, RestTime float64
}

// RecorderParams returns the parameters of the walk-off's recordings: Fiedler's demonstration on the Open
// Dynamics Engine ("Networked Physics", 2014). There friction is not Coulomb's but a constant limit
// of force, so high that cubes in contact neither slide nor roll.
// Params documents the units.
func RecorderParams() Params {
	return Params{
		Gravity: 20, Density: 1,
		ERP: 0.25, CFM: 0.001, UncorrectedDepth: 0.01, MaxCorrectionSpeed: 250, MaxFriction: 200,
		Iterations: 64, Converged: 2e-4, Effort: 1, Relaxation: 1.3,
		Damping: 0.01, DampedAbove: 0.01, MaxSpin: 16, MaxSpeed: 64,
		RestSpeed: 0.25, RestSpin: 0.25, RestTime: 0.1,
	}
}
