package remote

import (
	"errors"
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders/table"
	"wirelab/experiment/container"
)

// setup configures both sides of a session. The receiver learns everything else from the packets.
type setup struct {
	Schema         frame.Schema    // schema of the frames
	RateHz         int             // packets per second
	History        int             // number of frames that the receiver stores
	DisplayMilliHz int             // refresh rate of the receiver's display in 1/1000 Hz
	Display        displaySettings // of the receiver's display at the start
	AckArrivals    bool            // acks contain arrival times, for the sender's control
	Containers     bool            // packets may come in containers of package container
	MessageLanes   int             // lanes of messages in the containers; 0 means no messages
	Stream         bool            // packets and messages are in a stream of package container
	Encoder        string          // name of the first encoder; must exist on both sides
	Files          []setupFile     // files that the first encoder needs
	Initial        frame.Frame     // initial state
}

// Limits of a setup. They bound the memory and the time that a session takes at the receiver,
// whatever the sender requests.
const (
	maxInitialBytes = 8 << 20 // initial table, with 4 bytes for each value; a message has at most 5
	maxFields       = 256
	maxHz           = 10_000
	maxHistoryBytes = 64 << 20 // all frames of a history, with 4 bytes for each value
	maxBodyBytes    = 65_507   // body of the initial state
	maxNameBytes    = 100
	maxParts        = 256
	maxFiles        = 8
)

// errRefused means that the receiver does not accept a session with this setup.
var errRefused = errors.New("session refused")

// refusef returns an errRefused with a formatted reason.
func refusef(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errRefused, fmt.Sprintf(format, args...))
}

// check returns errRefused if a field is out of range, or if this program lacks the encoder or the
// encoder does not support the schema.
func (s *setup) check() error {
	schema := &s.Schema
	for _, x := range []struct {
		what             string
		value, low, high int
	}{
		{"rows", schema.Rows, 0, maxInitialBytes / 4},
		{"fields", len(schema.Fields), 0, maxFields},
		{"parts of rows", len(schema.Parts), 0, maxParts},
		{"bytes in the initial table", 4 * len(s.Initial.Table), 0, maxInitialBytes},
		{"bytes in the initial body", len(s.Initial.Body), 0, maxBodyBytes},
		{"frames per second", schema.TickHz, 1, maxHz},
		{"packets per second", s.RateHz, 1, maxHz},
		{"mHz of the display", s.DisplayMilliHz, 1, 1000 * maxHz},
		{"frames in the history", s.History, 1, frame.MaxHistory},
		{"lanes of messages", s.MessageLanes, 0, container.MaxLanes},
		{"bytes in the name of the data", len(schema.Name), 0, maxNameBytes},
		{"bytes in the name of an item", len(schema.Item), 0, maxNameBytes},
		{"bytes in the name of the encoder", len(s.Encoder), 0, maxNameBytes},
		{"files", len(s.Files), 0, maxFiles},
	} {
		if x.value < x.low || x.value > x.high {
			return refusef("%d %s; expected %d to %d", x.value, x.what, x.low, x.high)
		}
	}
	historyBytes := 4 * int64(schema.Rows) * int64(len(schema.Fields)) * int64(s.History+2)
	switch {
	case historyBytes > maxHistoryBytes:
		return refusef("history of %d frames with %d values exceeds %d MB", s.History, schema.Cells(),
			maxHistoryBytes>>20)
	case schema.Delivery != frame.Latest && schema.Delivery != frame.Unreliable:
		return refusef("delivery mode %v; expected snapshots or messages", schema.Delivery)
	case s.MessageLanes > 0 && !s.Containers || s.Stream && s.MessageLanes != 1:
		return refusef("%d lanes of messages; expected none, in containers, or 1 in a stream", s.MessageLanes)
	}
	for i := range schema.Fields {
		field := &schema.Fields[i]
		isEmpty := field.Kind.Bounded() && field.Min > field.Max
		isLong := max(len(field.Name), len(field.Unit)) > maxNameBytes
		if field.Kind > frame.Float32 || isEmpty || isLong {
			return refusef("field %d has an unknown kind, an empty range, or a name or unit of more than %d bytes",
				i, maxNameBytes)
		}
	}
	if _, err := s.Display.timing(); err != nil {
		return refusef("playout: %.200v", err)
	}
	if err := schema.Check(&s.Initial); err != nil {
		return refusef("initial state: %.200v", err)
	}
	codec, err := table.ByName(s.Encoder)
	if err != nil {
		return refusef("the receiver has no encoder %.40q", s.Encoder)
	}
	if !codec.Suits(schema) {
		return refusef("encoder %s does not support these frames", s.Encoder)
	}
	return nil
}
