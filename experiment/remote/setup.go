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
	"wirelab/experiment/endpoint"
	"wirelab/internal/boundedio"
)

// protocolVersion is that of the messages of this package. Both ends must have the same.
const protocolVersion = 1

// setup is what both ends of a session are configured with. All else the far end learns
// from the packets.
type setup struct {
	Version        int           `json:"version"`
	Schema         frame.Schema  `json:"schema"`
	RateHz         int           `json:"rate_hz"`
	History        int           `json:"history"`
	DigestBits     int           `json:"digest_bits"`
	DisplayMilliHz int           `json:"display_millihz"`
	Playout        time.Duration `json:"playout_ns"`
	Encoder        string        `json:"encoder"` // the first; to be known at both ends
	Files          []setupFile   `json:"files,omitempty"`
	Initial        frame.Frame   `json:"-"`
}

// The limits of a setup. They bound the memory and the time that a session takes at the far
// end, whatever the near end says.
const (
	maxSetup  = 1 << 20  // bytes that travel
	maxRaw    = 16 << 20 // bytes that they unfold to
	maxHead   = 64 << 10 // of these, of JSON
	maxFields = 256
	maxHz     = 10_000
	maxFrames = 64 << 20 // bytes of all frames of a history
	maxBody   = 65_507   // bytes of the initial state's
	maxName   = 100
	maxNeeded = 8
)

// errSetup says that a session of that setup is not taken on.
var errSetup = errors.New("it refuses the session")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errSetup, fmt.Sprintf(format, args...))
}

// encode returns the setup as it travels.
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
	case err != nil:
	case len(raw) > maxRaw:
		err = refuse("its initial state takes %d bytes; expected at most %d", len(raw), maxRaw)
	case out.Len() > maxSetup:
		err = refuse("its initial state takes %d bytes packed; at most %d travel", out.Len(), maxSetup)
	}
	return out.Bytes(), err
}

// parseSetup reads what encode wrote. Any bytes may come.
func parseSetup(data []byte) (*setup, error) {
	in := flate.NewReader(bytes.NewReader(data))
	raw, err := boundedio.ReadAll(in, "a setup", maxRaw)
	if err != nil {
		return nil, malformed("a setup", data)
	}
	r := reader{data: raw}
	n := r.uvarint()
	if n > maxHead {
		return nil, malformed("a setup", data)
	}
	head := r.bytes(n)
	if r.bad {
		return nil, malformed("a setup", data)
	}
	var version struct{ Version int }
	if err := json.Unmarshal(head, &version); err != nil {
		return nil, malformed("a setup", data)
	}
	if version.Version != protocolVersion {
		return nil, refuse("it is of version %d, and this end speaks version %d", version.Version, protocolVersion)
	}
	s := &setup{}
	d := json.NewDecoder(bytes.NewReader(head))
	d.DisallowUnknownFields()
	if err := d.Decode(s); err != nil {
		return nil, malformed("a setup", data)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	s.Initial.Table = make([]int32, s.Schema.Cells())
	for i := range s.Initial.Table {
		v := r.varint()
		if v != int64(int32(v)) {
			r.bad = true
		}
		s.Initial.Table[i] = int32(v)
	}
	body := r.uvarint()
	if body > maxBody {
		return nil, refuse("a body of %d bytes", body)
	}
	s.Initial.Body = bytes.Clone(r.bytes(body))
	if r.bad || len(r.data) > 0 {
		return nil, malformed("a setup", data)
	}
	if err := s.Schema.Check(&s.Initial); err != nil {
		return nil, refuse("its initial state: %v", err)
	}
	return s, nil
}

// check holds a setup against the limits.
func (s *setup) check() error {
	x := &s.Schema
	switch {
	case x.Rows < 0 || len(x.Fields) > maxFields || x.Rows > maxFrames/4:
		return refuse("frames of %d rows and %d fields; expected at most %d fields", x.Rows, len(x.Fields), maxFields)
	case x.Delivery != frame.Latest && x.Delivery != frame.Each:
		return refuse("data that are delivered in another way than snapshots and messages are")
	case s.History < 1 || s.History > frame.MaxHistory:
		return refuse("a history of %d frames; expected 1 to %d", s.History, frame.MaxHistory)
	case int64(x.Rows)*int64(len(x.Fields))*4*int64(s.History+2) > maxFrames:
		return refuse("%d frames of %d values take more than %d MB", s.History, x.Cells(), maxFrames>>20)
	case x.TickHz < 1 || x.TickHz > maxHz || s.RateHz < 1 || s.RateHz > maxHz:
		return refuse("%d frames and %d packets a second; expected 1 to %d", x.TickHz, s.RateHz, maxHz)
	case s.DisplayMilliHz < 1 || s.DisplayMilliHz > 1000*maxHz:
		return refuse("a display of %d mHz", s.DisplayMilliHz)
	case s.Playout < 0 || s.Playout > time.Minute:
		return refuse("a playout delay of %v", s.Playout)
	case s.DigestBits < 0 || s.DigestBits > endpoint.MaxDigest || s.DigestBits%8 != 0:
		return refuse("digests of %d bits", s.DigestBits)
	case len(x.Name) > maxName || len(x.Item) > maxName || len(s.Encoder) > maxName:
		return refuse("names of more than %d bytes", maxName)
	case len(s.Files) > maxNeeded:
		return refuse("an encoder of %d files; expected at most %d", len(s.Files), maxNeeded)
	}
	for i := range x.Fields {
		f := &x.Fields[i]
		if f.Kind > frame.Float32 || f.Kind.Bounded() && f.Min > f.Max || len(f.Name) > maxName || len(f.Unit) > maxName {
			return refuse("field %d is of no kind, has no values or a long name", i)
		}
	}
	codec, err := table.ByName(s.Encoder)
	if err != nil {
		return refuse("this end knows no encoder %.40q", s.Encoder)
	}
	if !codec.Suits(x) {
		return refuse("encoder %s is none for such frames", s.Encoder)
	}
	return nil
}

// cadence relates packets to ticks.
func (s *setup) cadence() endpoint.Cadence {
	return endpoint.Cadence{TickHz: s.Schema.TickHz, RateHz: s.RateHz}
}

// options are those of the far end's receiver.
func (s *setup) options() endpoint.Options {
	return endpoint.Options{History: s.History, Cadence: s.cadence(), DigestBits: s.DigestBits, Defer: true}
}
