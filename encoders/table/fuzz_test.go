package table_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders/table"
)

// benches holds an encoder, a decoder and random frames for every codec and small schema. Creating them for
// each input would take most of the fuzzer's time.
type benches map[[2]byte]*bench

type bench struct {
	pair   *pair
	frames []*frame.Frame
}

// at returns the element that two bytes of the fuzzer select, nil if the codec does not suit the schema.
func (b benches) at(t testing.TB, codec, schema byte) *bench {
	all, list := table.All(), schemas()[:10] // up to 33 cubes
	key := [2]byte{codec % byte(len(all)), schema % byte(len(list))}
	c, s := all[key[0]], list[key[1]]
	if !c.Suits(s) {
		return nil
	}
	if b[key] == nil {
		b[key] = &bench{newPair(t, c, s), randomFrames(s, 6, 4)}
	}
	clear(b[key].pair.sent)
	clear(b[key].pair.got)
	return b[key]
}

// FuzzDecode passes arbitrary bytes to every decoder, against several references.
func FuzzDecode(f *testing.F) {
	for i, c := range table.All() {
		for j, s := range schemas()[:10] {
			if !c.Suits(s) {
				continue
			}
			p := newPair(f, c, s)
			frames := randomFrames(s, 6, 4)
			for k, cur := range frames[1:] {
				f.Add(byte(i), byte(j), byte(k), p.send(f, cur, frames[k]))
			}
		}
	}
	all := benches{}
	f.Fuzz(func(t *testing.T, codec, schema, base byte, src []byte) {
		if b := all.at(t, codec, schema); b != nil {
			decodeInvalid(t, b.pair, src, b.frames[int(base)%len(b.frames)])
		}
	})
}

// FuzzRoundTrip derives two frames from the fuzzer's bytes and encodes one against the other.
func FuzzRoundTrip(f *testing.F) {
	for i := range table.All() {
		f.Add(byte(i), byte(6), []byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, []byte("body"))
		f.Add(byte(i), byte(2), []byte{0xFF, 0xFF, 0xFF, 0x7F}, []byte{})
	}
	all := benches{}
	f.Fuzz(func(t *testing.T, codec, schema byte, cells, body []byte) {
		b := all.at(t, codec, schema)
		if b == nil {
			return
		}
		base := b.frames[int(codec)%len(b.frames)]
		cur := change(b.pair.schema, base, cells, body)
		b.pair.send(t, cur, base)
		b.pair.send(t, base, cur)
		b.pair.send(t, cur, cur)
	})
}

// change returns f with values changed, four bytes select a value and the change, and with the beginning of body if the schema
// has bodies.
func change(s *frame.Schema, f *frame.Frame, edits, body []byte) *frame.Frame {
	g := &frame.Frame{Tick: f.Tick + 1}
	g.CopyFrom(f)
	for ; len(edits) >= 4 && len(g.Table) > 0; edits = edits[4:] {
		at := int(edits[0])*len(g.Table)/256 + int(edits[1])%len(s.Fields)
		at %= len(g.Table)
		fd, v := &s.Fields[at%len(s.Fields)], int64(int16(binary.LittleEndian.Uint16(edits[2:])))
		if edits[1] >= 128 {
			v <<= 16
		}
		v += int64(g.Table[at])
		if fd.Kind.Bounded() {
			v = min(max(v, int64(fd.Min)), int64(fd.Max))
		}
		g.Table[at] = int32(v)
	}
	if hasBody(s) {
		g.Body = append([]byte(nil), body[:min(len(body), 1<<12)]...)
	}
	return g
}

// FuzzMutate encodes a packet from the fuzzer's bytes, changes parts of it, and decodes it, twice, followed by a
// valid packet. It reaches more code than FuzzDecode, because decoders refuse arbitrary bytes early.
func FuzzMutate(f *testing.F) {
	for i := range table.All() {
		for j := range schemas()[:10] {
			f.Add(byte(i), byte(j), []byte{1, 2, 3, 4, 5, 6, 7, 8}, []byte("the body"), []byte{0, 9, 0x23, 0xff, 0, 40, 0x08, 3})
		}
	}
	all := benches{}
	f.Fuzz(func(t *testing.T, codec, schema byte, cells, body, edits []byte) {
		b := all.at(t, codec, schema)
		if b == nil {
			return
		}
		base := b.frames[int(codec)%len(b.frames)]
		cur := change(b.pair.schema, base, cells, body)
		packet := bytes.Clone(b.pair.send(t, cur, base))
		decodeInvalid(t, b.pair, mutate(packet, edits), base)
		b.pair.send(t, cur, base)
		decodeInvalid(t, b.pair, mutate(packet, edits), b.frames[0])
		b.pair.send(t, base, cur)
	})
}

// mutate returns a packet with bits changed. Four bytes are an edit: the position of the first bit as a fraction
// of the packet, the operation with the number of bits, and a value.
func mutate(packet, edits []byte) []byte {
	p := bytes.Clone(packet)
	for ; len(edits) >= 4 && len(p) > 0; edits = edits[4:] {
		at := int(binary.BigEndian.Uint16(edits)) * len(p) * 8 >> 16
		width, value := 1+int(edits[2]&31), uint32(edits[3])
		switch edits[2] >> 5 {
		case 0: // the end is missing
			p = p[:at/8]
		case 1: // something comes in between
			p = slices.Insert(p, at/8, bytes.Repeat(edits[3:4], width)...)
		case 2: // something is missing
			p = slices.Delete(p, at/8, min(at/8+width, len(p)))
		case 3: // a part comes again
			p = slices.Insert(p, at/8, p[at/8:min(at/8+width, len(p))]...)
		case 4: // all ones, as of the largest number
			value = 1<<32 - 1
			fallthrough
		default: // a field of these bits has another value
			value *= 1 + 0x01010101*uint32(edits[2]>>5&1)
			for i := at; i < min(at+width, len(p)*8); i++ {
				p[i/8] = p[i/8]&^(1<<(i%8)) | byte(value>>(i-at)&1)<<(i%8)
			}
		}
	}
	return p
}
