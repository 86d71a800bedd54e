// Package plugin runs encoders from outside: WebAssembly modules that keep the contract of
// wirelab.h. Load reads, checks and describes one; its codecs then stand beside the built-in
// ones. Each end of a session is an instance of its own, so that sender and receiver share no
// memory, and an instance can neither see the clock nor files, nor take more memory or time
// than it is given. What goes wrong in one is an error that names plugin and call.
package plugin
