// Package shown is the page "World" or "Values" of sessions whose data are neither cubes nor files: the
// age of the displayed data and the values at both endpoints, or a map if the schema marks fields as
// coordinates.
package shown
