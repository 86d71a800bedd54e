// Package crowd implements page 8, one sender with many receivers: what each client gets, and what a tick costs the
// server.
package crowd
