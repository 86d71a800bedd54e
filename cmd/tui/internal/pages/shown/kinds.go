package shown

import (
	"slices"
	"strconv"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/dataset/frame"
)

// entityKind is a kind of things on the map: a value of the field with role Type or, without such a field, a part.
type entityKind struct {
	name   string
	letter rune // marks things at rest; its upper case marks those that move
	style  look.Style
}

// partKinds tells the kinds of the rows of a part.
type partKinds struct {
	first int // index of the first kind, or noKind
	count int // number of kinds
	field int // column with the number of the kind, from 0; -1 if the part has one kind
}

// noKind is the kind of things in rows that are always present, which have a marker of their own: the player.
const noKind = -1

// findKinds returns the kinds of things on the map, and for each part the kinds of its rows.
func findKinds(s *frame.Schema, parts []frame.Part, places [][]placeFields) (kinds []entityKind, ofParts []partKinds) {
	const maxValues = 32 // a type field with a larger range is not listed without names
	for i, part := range parts {
		of := partKinds{first: noKind, field: -1}
		if len(places[i]) > 0 && (places[i][0].present >= 0 || len(s.Parts) == 0) {
			of.first, of.count = len(kinds), 1
			names := []string{part.Name}
			for f := part.Field; f < part.Field+part.Size; f++ {
				field := &s.Fields[f]
				if field.Hint.Role != frame.Type || field.Min != 0 {
					continue
				}
				if len(field.Values) > 0 {
					names = append(slices.Clone(field.Values), "other")
				} else if field.Max < maxValues {
					names = nil
					for v := range int(field.Max) + 1 {
						names = append(names, field.Name+" "+strconv.Itoa(v))
					}
				} else {
					continue
				}
				of.field, of.count = f, len(names)
			}
			for _, name := range names {
				kinds = append(kinds, entityKind{name: name, letter: unusedLetter(name, kinds), style: look.SlotStyle(len(kinds))})
			}
		}
		ofParts = append(ofParts, of)
	}
	return kinds, ofParts
}

// unusedLetter returns a letter for a kind: the first one of its name that no other kind has, or any other.
func unusedLetter(name string, kinds []entityKind) rune {
	for _, r := range strings.ToLower(name) + "abcdefghijklmnopqrstuvwxyz" {
		if r >= 'a' && r <= 'z' && !slices.ContainsFunc(kinds, func(k entityKind) bool { return k.letter == r }) {
			return r
		}
	}
	return '?'
}

// of returns the index of the kind of a row with these values.
func (p *partKinds) of(values []int32) int {
	if p.field < 0 {
		return p.first
	}
	return p.first + int(min(uint32(values[p.field]), uint32(p.count-1)))
}
