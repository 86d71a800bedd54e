package source

// Rounded is a source that rounds the values of its file to the steps of its schema.
type Rounded interface {
	// Precision returns the rounding errors of each field, in the order of the schema, over all values read so far.
	Precision() []Precision
}

// Precision describes the rounding errors of a field: the differences between the values in the file and those of the
// frames, in the field's unit. The errors are nil if they are unknown, because the file has rounded values or no
// value was read.
type Precision struct {
	Field string   `json:"field"`
	Unit  string   `json:"unit"`
	Scale float64  `json:"scale"` // units per step; 0 for kinds without steps
	Max   *float64 `json:"max"`
	Mean  *float64 `json:"mean"`
	P99   *float64 `json:"p99"`
}
