// Package experiment is the front of the lab: Run and Replay for headless experiments,
// Sweep over a grid, Runner for a session that a person watches, and the presets.
//
// The rooms behind it, from the bottom up: endpoint is what a game could ship; figures
// names what is measured; config is what an experiment is set to; engine runs it in
// virtual time; report writes it down. Only Runner reads the wall clock or starts a
// goroutine for a session; Run uses as many as there are points in a sweep.
package experiment
