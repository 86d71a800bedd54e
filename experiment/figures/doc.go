// Package figures defines the figures of a run: their names, units, types and JSON
// keys. It says what is measured and not how. Assertions in a configuration and the
// meter of the engine share its names.
package figures
