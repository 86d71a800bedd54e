// Package experiment runs experiments: Run for headless runs and sweeps, Replay for saved reports,
// and the presets. Package live runs the experiment of the dashboard.
//
// It builds on these packages, lowest first: endpoint has the sender and the receiver, as a game could
// ship them; figures defines the measured figures; config the settings of an experiment; engine runs
// a session in virtual time; report writes and reads reports. Only live paces a session by the wall
// clock and runs it in its own goroutine. Run executes the points of a sweep in parallel.
package experiment
