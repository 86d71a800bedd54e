package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"wirelab/encoders"
	"wirelab/experiment/endpoint"
)

// Name is the shortest text that tells the lane from the others of its snapshot: the
// encoder's name and, if another lane has the same encoder, the params that tell them
// apart.
func (l *Lane) Name() string { return joinName(l.Encoder, l.Differs) }

// BesideOf is Name where it is clear that the lane runs beside first: of the same encoder
// only the params are named.
func (l *Lane) BesideOf(first *Lane) string {
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

// differences returns, for each of some encodings, the params that tell it from those with
// the same encoder. A param is named where the encodings have different values of it, and
// where the value is not the default.
func differences(list []*endpoint.Encoding) []string {
	out := make([]string, len(list))
	for i := range list {
		name := list[i].Codec.Name
		same := func(e *endpoint.Encoding) bool { return e.Codec.Name == name }
		if slices.IndexFunc(list, same) < i {
			continue // done with the first of them
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

// differences is that of the lanes.
func (s *Session) differences() []string {
	list := make([]*endpoint.Encoding, len(s.lanes))
	for i, l := range s.lanes {
		list[i] = l.snd.Encoding()
	}
	return differences(list)
}

// LaneSamples are the samples kept of a lane, oldest first.
type LaneSamples struct {
	Name    string
	Began   time.Duration // when it joined
	Samples []Sample
}

// SideBySide returns the samples of every lane, those of the first encoder first.
func (s *Session) SideBySide() []LaneSamples {
	var out []LaneSamples
	differs := s.differences()
	for i, l := range s.lanes {
		out = append(out, LaneSamples{joinName(l.snd.Encoding().Codec.Name, differs[i]), l.began, l.meter.samples.view()})
	}
	return out
}
