// Package tour is the guided tour of the dashboard: seven steps, each of which
// sets a scene, changes one thing and says what to look at. It drives the lab
// through a session, as keys do, and takes its changes back at the end.
package tour
