// Package table is the door for a user's own data: records of any game, described by
// a schema in TOML and read from CSV or from packed integers. Whatever the schema,
// every generic encoder takes what comes of it.
//
// A schema says what one row is called, how many rows a frame has and how many frames
// there are a second, and of each field its kind and range. Records are rows of a CSV
// file with the names of the columns in its first line, or little-endian int32 values
// one after the other, frame by frame, raw or compressed with zstd or gzip. They are
// read as they are played, in bounded memory. The file README.md beside this one lists
// all keys; Example holds a schema with a few rows.
package table

import "embed"

// example is a schema with all kinds of field, and three frames of records.
//
//go:embed example
var example embed.FS

// Example returns a commented schema that shows every kind of field, and records that
// go with it, as CSV: something to start from.
func Example() (schema, records []byte) {
	return mustRead("example/arena.toml"), mustRead("example/arena.csv")
}

func mustRead(name string) []byte {
	data, err := example.ReadFile(name)
	if err != nil {
		panic("table: an embedded file cannot be read: " + err.Error())
	}
	return data
}
