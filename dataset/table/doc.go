// Package table reads a user's own data: records of any game, described by a schema in TOML, from CSV
// or packed integers. All generic encoders can encode the frames.
//
// A schema defines the name of a row, the number of rows of a frame, the frames per second, and the
// kind and range of each field. Records are rows of a CSV file whose first line names the columns, or
// little-endian int32 values frame by frame, plain or compressed with zstd or gzip. They are read
// during playback, in bounded memory. README.md in this folder lists all keys; Example returns a
// schema with a few rows.
package table

import "embed"

// example contains a schema with all kinds of field, and records of three frames.
//
//go:embed example
var example embed.FS

// Example returns a commented schema with every kind of field, and records for it in CSV.
func Example() (schema, records []byte) {
	return mustRead("example/arena.toml"), mustRead("example/arena.csv")
}

// mustRead returns an embedded file.
func mustRead(name string) []byte {
	data, err := example.ReadFile(name)
	if err != nil {
		panic("table: an embedded file cannot be read: " + err.Error())
	}
	return data
}
