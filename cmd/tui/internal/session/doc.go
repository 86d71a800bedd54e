// Package session is the running experiment as the dashboard drives it: the
// newest snapshot, the settings that were asked for and that no snapshot shows
// yet, the moment that is shown while somebody looks back, and the notices.
//
// Changes are gathered and handed to the lab once a tick. What was asked for is
// shown at once, before the engine has answered.
package session
