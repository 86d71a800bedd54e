// Package config defines the configuration of an experiment: its keys and their text
// form, the TOML file, errors that name file, line and key, and changes during a
// session.
//
// A Config contains everything that determines the bytes of a run. Files, flags, sweeps,
// scripts, the dashboard and replays set it by the same keys with the same checks. The
// package does not run experiments.
package config
