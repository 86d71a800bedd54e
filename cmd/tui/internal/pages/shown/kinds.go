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

// partKinds are the kinds of the rows of one part, consecutive in the list of all kinds.
type partKinds struct {
	first  int // index of the first kind; noKind if the rows have none
	count  int // number of kinds
	column int // column whose value is added to first; -1 if all rows are of the kind first
}

// noKind is the index of the kind of rows that are always present, such as the player: they have a marker of their own.
const noKind = -1

// findKinds returns all kinds of things on the map, and for each part the kinds of its rows. places are by part.
func findKinds(s *frame.Schema, parts []frame.Part, places [][]placeFields) (kinds []entityKind, byPart []partKinds) {
	const maxUnnamed = 32 // a type field without names and with more values does not distinguish kinds
	for i, part := range parts {
		rows := partKinds{first: noKind, column: -1}
		if len(places[i]) > 0 && (places[i][0].present >= 0 || len(s.Parts) == 0) {
			rows.first, rows.count = len(kinds), 1
			names := []string{part.Name}
			for f := part.Field; f < part.Field+part.Size; f++ {
				field := &s.Fields[f]
				if field.Hint.Role != frame.Type || field.Min != 0 {
					continue
				}
				if len(field.Values) > 0 {
					names = append(slices.Clone(field.Values), "other")
				} else if field.Max < maxUnnamed {
					names = nil
					for v := range int(field.Max) + 1 {
						names = append(names, field.Name+" "+strconv.Itoa(v))
					}
				} else {
					continue
				}
				rows.column, rows.count = f, len(names)
			}
			for _, name := range names {
				kinds = append(kinds, entityKind{name: name, letter: unusedLetter(name, kinds), style: look.SlotStyle(len(kinds))})
			}
		}
		byPart = append(byPart, rows)
	}
	return kinds, byPart
}

// unusedLetter returns the first letter of name that none of the kinds has, otherwise the first such letter of the
// alphabet, and '?' if all letters are used.
func unusedLetter(name string, kinds []entityKind) rune {
	for _, r := range strings.ToLower(name) + "abcdefghijklmnopqrstuvwxyz" {
		if r >= 'a' && r <= 'z' && !slices.ContainsFunc(kinds, func(k entityKind) bool { return k.letter == r }) {
			return r
		}
	}
	return '?'
}

// kindOf returns the index of the kind of a row with these values. Values beyond the last kind have the last kind.
func (p *partKinds) kindOf(values []int32) int {
	if p.column < 0 {
		return p.first
	}
	return p.first + int(min(uint32(values[p.column]), uint32(p.count-1))) // uint32: negative values are beyond the last kind
}
