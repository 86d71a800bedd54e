// Package config is what an experiment is set to: the configuration, its keys and
// their text form, the TOML file, errors that name file, line and key, and the
// changes that may be made while a session runs.
//
// A Config holds everything that decides the bytes of a run. Files, flags, sweeps,
// scripts, the dashboard and replays all set it by the same keys, through the same
// checks. Nothing here runs anything.
package config
