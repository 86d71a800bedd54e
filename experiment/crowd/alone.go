package crowd

import (
	"errors"
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/config"
)

// ClientConfig returns the configuration of a session with one receiver that gets the packets which client n gets,
// counted from 1. It returns an error if no session does, because the packets depend on other clients, or because the
// client is not in the game all the time.
func (l *Live) ClientConfig(n int) (*config.Config, error) {
	c := l.Recorded()
	switch {
	case c.Crowd.Uplink.BitsPerSecond > 0:
		return nil, errors.New("the clients share the uplink of the server")
	case c.Crowd.Budget > 0:
		return nil, errors.New("the clients share crowd.budget")
	case c.Crowd.Baseline != config.Default().Crowd.Baseline:
		return nil, errors.New("the clients share baselines by crowd.baseline")
	}
	down, up, row, err := clientLinks(c, n)
	if err != nil {
		return nil, err
	}
	alone := c.Clone()
	smallest := c.Crowd.Clients // number of clients so far
	alone.At = nil
	for _, at := range c.At {
		if clients, set := at.Change.Value("crowd.clients").(int64); set && at.T < l.reached {
			smallest = min(smallest, int(clients))
		}
		if at.Change = at.Change.WithoutClients(); !at.Change.IsZero() {
			alone.At = append(alone.At, at)
		}
	}
	comesOrGoes := row >= 0 && c.Clients[row].Join+c.Clients[row].Leave > 0
	if comesOrGoes || n > smallest {
		return nil, fmt.Errorf("client %d is not in the game all the time", n)
	}
	alone.Down, alone.Up = down, up
	if profile := clientProfile(c, n); profile != nil {
		alone.Profile = profile.Name
	}
	alone.Crowd, alone.Clients = config.Default().Crowd, nil
	alone.LinkSeed = ClientSeed(c.Seed, n)
	alone.Player = (n - 1) % min(c.Crowd.PlayerRows, l.schema.Rows)
	if !c.HasBudget() {
		alone.Codecs = withoutMemos(c.CodecTable())
	}
	return alone, nil
}

// withoutMemos returns codecs that encode as a crowd without budgets does: with one reference, and without memos.
func withoutMemos(list []encoders.Codec) []encoders.Codec {
	for i := range list {
		create := list[i].New
		list[i].New = func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
			e, d, err := create(s, params)
			return &memoless{Encoder: e}, &memoless{Decoder: d}, err
		}
	}
	return list
}

// memoless is an encoder and a decoder that use one reference and attach no memos to frames.
type memoless struct {
	encoders.Encoder
	encoders.Decoder
	spare encoders.Memo
}

func (x *memoless) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, _ encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	out, memo, err := x.Encoder.Encode(dst, cur, refs[:1], x.spare, b)
	if err == nil {
		x.spare = memo
	}
	return out, nil, err
}

func (x *memoless) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	memo, err := x.Decoder.Decode(dst, src, refs[:1], x.spare)
	if err == nil {
		x.spare = memo
	}
	return nil, err
}
