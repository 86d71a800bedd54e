// Package crowd is the page "Crowd": one sender with many receivers: what each client gets, and what a
// tick costs the server.
package crowd
