package remote

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders/table"
	"wirelab/experiment/container"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/playout"
	"wirelab/internal/boundedio"
)

// protocolVersion is the version of the messages of this package, packets and acks included. Both sides must have the
// same.
const protocolVersion = 3

// setup configures both sides of a session. The receiver learns everything else from the packets.
type setup struct {
	Version        int           `json:"version"`                 // protocolVersion
	Schema         frame.Schema  `json:"schema"`                  // schema of the frames
	RateHz         int           `json:"rate_hz"`                 // packets per second
	History        int           `json:"history"`                 // number of frames that the receiver stores
	DisplayMilliHz int           `json:"display_millihz"`         // refresh rate of the receiver's display in 1/1000 Hz
	Playout        time.Duration `json:"playout_ns"`              // playout delay of the receiver's display
	Policy         string        `json:"playout,omitempty"`       // playout policy that replaces the delay; empty for none
	SendNS         time.Duration `json:"send_ns,omitempty"`       // time between two packets, for the policy
	AckArrivals    bool          `json:"ack_arrivals,omitempty"`  // acks contain arrival times, for the sender's control
	Containers     bool          `json:"containers,omitempty"`    // packets may come in containers of package container
	MessageLanes   int           `json:"message_lanes,omitempty"` // lanes of messages in the containers; 0 means no messages
	Stream         bool          `json:"stream,omitempty"`        // packets and messages are in a stream of package container
	Encoder        string        `json:"encoder"`                 // name of the first encoder; must exist on both sides
	Files          []setupFile   `json:"files,omitempty"`         // files that the first encoder needs
	Initial        frame.Frame   `json:"-"`                       // initial state; encoded after the JSON
}

// Limits of a setup. They bound the memory and the time that a session takes at the receiver,
// whatever the sender requests.
const (
	maxSetupBytes    = 1 << 20  // compressed
	maxUnpackedBytes = 16 << 20 // decompressed
	maxJSONBytes     = 64 << 10 // JSON part
	maxFields        = 256
	maxHz            = 10_000
	maxHistoryBytes  = 64 << 20 // all frames of a history, with 4 bytes for each value
	maxRows          = maxHistoryBytes / 4
	maxBodyBytes     = 65_507 // body of the initial state
	maxNameBytes     = 100
	maxFiles         = 8
)

// errRefused means that the receiver does not accept a session with this setup.
var errRefused = errors.New("session refused")

// refusef returns an errRefused with a formatted reason.
func refusef(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errRefused, fmt.Sprintf(format, args...))
}

// encode returns the encoded setup, or errRefused if it exceeds maxUnpackedBytes or maxSetupBytes.
// Layout before compression with DEFLATE: length of the JSON (uvarint), JSON of the fields, values of
// the initial table (varints), length of the initial body (uvarint), body.
func (s *setup) encode() ([]byte, error) {
	head, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	raw := binary.AppendUvarint(nil, uint64(len(head)))
	raw = append(raw, head...)
	for _, v := range s.Initial.Table {
		raw = binary.AppendVarint(raw, int64(v))
	}
	raw = binary.AppendUvarint(raw, uint64(len(s.Initial.Body)))
	raw = append(raw, s.Initial.Body...)
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err = w.Write(raw); err == nil {
		err = w.Close()
	}
	switch {
	case err != nil: // returned below
	case len(raw) > maxUnpackedBytes:
		err = refusef("the initial state takes %d bytes; expected at most %d", len(raw), maxUnpackedBytes)
	case out.Len() > maxSetupBytes:
		err = refusef("the initial state takes %d bytes compressed; expected at most %d", out.Len(), maxSetupBytes)
	}
	return out.Bytes(), err
}

// parseSetup decodes and checks what encode wrote. It accepts arbitrary input; errors are
// errProtocol or errRefused.
func parseSetup(data []byte) (*setup, error) {
	in := flate.NewReader(bytes.NewReader(data))
	raw, err := boundedio.ReadAll(in, "a setup", maxUnpackedBytes)
	if err != nil {
		return nil, malformed("setup", data)
	}
	r := reader{rest: raw}
	n := r.uvarint()
	if n > maxJSONBytes {
		return nil, malformed("setup", data)
	}
	head := r.bytes(n)
	if r.failed {
		return nil, malformed("setup", data)
	}
	var version struct{ Version int } // checked first: another version may have other fields
	if err := json.Unmarshal(head, &version); err != nil {
		return nil, malformed("setup", data)
	}
	if version.Version != protocolVersion {
		return nil, refusef("the sender has protocol version %d, the receiver version %d", version.Version, protocolVersion)
	}
	s := &setup{}
	d := json.NewDecoder(bytes.NewReader(head))
	d.DisallowUnknownFields()
	if err := d.Decode(s); err != nil {
		return nil, malformed("setup", data)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	s.Initial.Table = make([]int32, s.Schema.Cells())
	for i := range s.Initial.Table {
		v := r.varint()
		if v != int64(int32(v)) { // outside the range of a table value
			r.failed = true
		}
		s.Initial.Table[i] = int32(v)
	}
	bodyBytes := r.uvarint()
	if bodyBytes > maxBodyBytes {
		return nil, refusef("initial body has %d bytes; expected at most %d", bodyBytes, maxBodyBytes)
	}
	s.Initial.Body = bytes.Clone(r.bytes(bodyBytes))
	if r.failed || len(r.rest) > 0 {
		return nil, malformed("setup", data)
	}
	if err := s.Schema.Check(&s.Initial); err != nil {
		return nil, refusef("initial state: %v", err)
	}
	return s, nil
}

// check returns errRefused if a field is out of range, or if this receiver lacks the encoder or the
// encoder does not support the schema.
func (s *setup) check() error {
	schema := &s.Schema
	switch {
	case schema.Rows < 0 || len(schema.Fields) > maxFields || schema.Rows > maxRows:
		return refusef("frames have %d rows and %d fields; expected at most %d rows and %d fields", schema.Rows, len(schema.Fields),
			maxRows, maxFields)
	case schema.Delivery != frame.Latest && schema.Delivery != frame.Unreliable:
		return refusef("delivery mode %v; expected snapshots or messages", schema.Delivery)
	case s.History < 1 || s.History > frame.MaxHistory:
		return refusef("history of %d frames; expected 1 to %d", s.History, frame.MaxHistory)
	case int64(schema.Rows)*int64(len(schema.Fields))*4*int64(s.History+2) > maxHistoryBytes:
		return refusef("history of %d frames with %d values exceeds %d MB", s.History, schema.Cells(), maxHistoryBytes>>20)
	case schema.TickHz < 1 || schema.TickHz > maxHz || s.RateHz < 1 || s.RateHz > maxHz:
		return refusef("%d frames and %d packets per second; expected 1 to %d", schema.TickHz, s.RateHz, maxHz)
	case s.DisplayMilliHz < 1 || s.DisplayMilliHz > 1000*maxHz:
		return refusef("display rate %d mHz; expected 1 to %d", s.DisplayMilliHz, 1000*maxHz)
	case s.Playout < 0 || s.Playout > time.Minute:
		return refusef("playout delay %v; expected 0 to %v", s.Playout, time.Minute)
	case s.SendNS < 0 || s.SendNS > time.Minute || s.Policy != "" && s.SendNS == 0:
		return refusef("time of %v between packets; expected 1ns to %v", s.SendNS, time.Minute)
	case s.MessageLanes < 0 || s.MessageLanes > container.MaxLanes || s.MessageLanes > 0 && !s.Containers || s.Stream && s.MessageLanes != 1:
		return refusef("%d lanes of messages; expected at most %d, in containers, or 1 in a stream", s.MessageLanes, container.MaxLanes)
	case len(schema.Name) > maxNameBytes || len(schema.Item) > maxNameBytes || len(s.Encoder) > maxNameBytes:
		return refusef("the name of the data, of an item or of the encoder is too long; expected at most %d bytes", maxNameBytes)
	case len(s.Files) > maxFiles:
		return refusef("the encoder needs %d files; expected at most %d", len(s.Files), maxFiles)
	}
	for i := range schema.Fields {
		field := &schema.Fields[i]
		if field.Kind > frame.Float32 || field.Kind.Bounded() && field.Min > field.Max || len(field.Name) > maxNameBytes ||
			len(field.Unit) > maxNameBytes {
			return refusef("field %d has an unknown kind, an empty range, or a name or unit of more than %d bytes", i, maxNameBytes)
		}
	}
	if _, err := s.timing(); err != nil {
		return refusef("playout: %.200v", err)
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

// cadence returns the rates of ticks and packets.
func (s *setup) cadence() endpoint.Cadence {
	return endpoint.Cadence{TickHz: s.Schema.TickHz, RateHz: s.RateHz}
}

// timing returns the playout delay or policy of the display.
func (s *setup) timing() (playout.Timing, error) {
	if s.Policy == "" {
		return playout.Fixed(s.Playout), nil
	}
	return playout.ParseTiming(s.Policy)
}

// rhythm returns the intervals for a playout policy. send is the time between two packets.
func (s *setup) rhythm(send time.Duration) playout.Rhythm {
	return playout.Rhythm{Send: send, Display: 1000 * time.Second / time.Duration(s.DisplayMilliHz), Tick: time.Second / time.Duration(s.Schema.TickHz)}
}

// receiverOptions returns the options of the endpoint.Receiver. With Defer, the receiver leaves work
// that can wait to Finish, so that the ack is sent earlier.
func (s *setup) receiverOptions() endpoint.Options {
	return endpoint.Options{History: s.History, Cadence: s.cadence(), Defer: true}
}
