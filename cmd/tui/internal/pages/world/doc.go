// Package world is the page "World" or "Values": the world at both endpoints, if the schema has positions, the
// values at both endpoints, and charts of the receiver's display.
package world
