// Package controls is what can be set: the catalog of encoders, profiles and keys
// of a link, the pane with a row for each setting, and the lists to pick a name
// from.
package controls
