// Package figures has the figures of a run: their names, units, types and JSON. It
// says what is measured and nothing about how, so that assertions in a configuration
// and the meter that counts agree on the names.
package figures
