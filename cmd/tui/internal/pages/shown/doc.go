// Package shown is page 4 where the data are neither cubes nor files: how old what the receiver
// shows is, and what both ends have; from above, where a schema says which fields are a place.
package shown
