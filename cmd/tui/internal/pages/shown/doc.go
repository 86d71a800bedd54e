// Package shown is page 4 of sessions whose data are neither cubes nor files: the age of the displayed
// data and the values at both endpoints, or a map if the schema marks fields as coordinates.
package shown
