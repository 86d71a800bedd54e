// Package experiment is the lab itself: a sender and a receiver that talk
// through a modelled link in virtual time, the meter that watches both, and the
// reports that let others repeat what was seen.
//
// A Session is single-threaded, seeded and free of wall clocks: the same Config
// and the same changes give the same bytes, live or headless. Runner paces one
// session for the dashboard; Sweep runs many side by side.
package experiment
