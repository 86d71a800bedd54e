// Tui is Wirelab's one program: a lab for sending game state over bad networks.
// Without a command it is the dashboard; with one it is the same lab for scripts.
// Names, exit codes and JSON keys are a contract; see README.md.
//
// A command is one file, named after it: run.go, replay.go, walkoff.go, patch.go,
// links*.go, datasets*.go. root.go lists them. What they share is in app.go (what
// commands stand on), flags.go, config.go, output.go, progress.go and exit.go
// (errors and exit codes). The dashboard lives under internal.
package main
