package table

import "errors"

// Errors of schemas and records, returned wrapped in a *source.Error. A value outside of its range is
// a frame.ErrRange instead.
var (
	// ErrSchema means that the schema is not valid.
	ErrSchema = errors.New("bad schema")
	// ErrRecords means that the records do not fit the schema.
	ErrRecords = errors.New("records do not fit the schema")
	// ErrTruncated means that the records end within a frame.
	ErrTruncated = errors.New("records truncated")
)
