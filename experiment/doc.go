// Package experiment is the lab itself: a sender and a receiver that talk
// through a modelled link in virtual time, the meter that watches both, and the
// reports that let others repeat what was seen.
//
// A Session is single-threaded, seeded and free of wall clocks: the same Config
// and the same changes give the same bytes, live or headless. Runner paces one
// session for the dashboard; Sweep runs many side by side.
//
// Snapshots and messages may be lost; files may not. Where the data's schema says
// that every byte must arrive, the encoder packs the file as a whole, and each lane
// brings the pack across in blocks that it sends until they are acknowledged (see
// delivery, and package transfer for the rules). Such a run ends when every encoder
// has brought the file across.
package experiment
