package engine

import (
	"fmt"
	"slices"
	"strings"

	"wirelab/encoders"
	"wirelab/experiment/endpoint"
)

// Name is the shortest text that distinguishes the lane from the others of its snapshot: the
// encoder's name and, if another lane has the same encoder, the params that differ.
func (l *Lane) Name() string { return joinName(l.Encoder, l.Differs) }

// ShortName is Name in a context that names first: of the same encoder only the params are named.
func (l *Lane) ShortName(first *Lane) string {
	if l.Encoder == first.Encoder && l.Differs != "" {
		return l.Differs
	}
	return l.Name()
}

func joinName(encoder, differs string) string {
	if differs == "" {
		return encoder
	}
	return encoder + " " + differs
}

// differences returns, for each encoding, the params that distinguish it from those with the
// same encoder. A param is named if the encodings have different values of it, and if the value
// is not the default.
func differences(list []*endpoint.Encoding) []string {
	out := make([]string, len(list))
	for i := range list {
		name := list[i].Codec.Name
		same := func(e *endpoint.Encoding) bool { return e.Codec.Name == name }
		if slices.IndexFunc(list, same) < i {
			continue // done with the first encoding of that name
		}
		for _, info := range list[i].Codec.ParamInfo() {
			differing := false
			value := func(k int) string {
				v, _ := encoders.ParamValue(list[k].Params, info.Name)
				return fmt.Sprint(v)
			}
			for k := i + 1; k < len(list); k++ {
				differing = differing || same(list[k]) && value(k) != value(i)
			}
			for k := i; k < len(list) && differing; k++ {
				if v := value(k); same(list[k]) && v != fmt.Sprint(info.Default) {
					out[k] = strings.TrimPrefix(out[k]+" "+info.Name+"="+v, " ")
				}
			}
		}
	}
	return out
}

// differences returns, for each lane, the params that distinguish it from those with the same
// encoder.
func (s *Session) differences() []string {
	list := make([]*endpoint.Encoding, len(s.lanes))
	for i, l := range s.lanes {
		list[i] = l.snd.Encoding()
	}
	return differences(list)
}
