package table

import "errors"

// What a source.Error about a schema or records wraps. A value outside its range wraps
// frame.ErrRange.
var (
	// ErrSchema: the schema contains something that makes no sense.
	ErrSchema = errors.New("bad schema")
	// ErrRecords: the records do not fit the schema.
	ErrRecords = errors.New("records do not fit the schema")
	// ErrTruncated: the records break off.
	ErrTruncated = errors.New("records truncated")
)
