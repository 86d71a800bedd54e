// Package tour is the guided tour of the dashboard. Each of its eight steps configures a scene, changes
// one setting and explains what to watch. It drives the lab through a session, as keys do, and restores
// all settings at the end.
package tour
