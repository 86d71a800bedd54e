// Package session connects the dashboard with the running experiment: it has the newest snapshot, the
// requested settings that no snapshot contains yet, the time cursor, and the notices.
//
// Changes are collected and sent to the lab once per tick. Requested settings are shown at once, before
// the engine confirms them.
package session
