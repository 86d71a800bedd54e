// Package controls implements the settings of the dashboard: the catalog of encoders, link
// profiles and keys of links, the pane with a row for each setting, and the lists to choose
// values from.
package controls
