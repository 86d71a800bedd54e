package proxyview

import (
	"errors"
	"fmt"
	"slices"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/script"
	"wirelab/lossmodel"
	"wirelab/lossmodel/relay"
)

// An operator changes the links of a proxy for the user of the dashboard.
type operator struct {
	proxy  Proxy
	cat    *controls.Catalog
	target relay.Client // the client whose links are changed; the zero Client means all
}

func newOperator(p Proxy) operator {
	return operator{proxy: p, cat: controls.NewCatalog(nil, lossmodel.Profiles(), lossmodel.Keys())}
}

// Context returns what the parsing of commands depends on.
func (op *operator) Context() command.Context {
	return command.Context{Catalog: op.cat, Config: op.proxy.Live.Config(op.target), Screen: command.Proxy}
}

// execute carries out an order that changes links or selects the client whose links later orders change. handled is false
// for all other orders.
func (op *operator) execute(o command.Order) (handled bool, err error) {
	switch {
	case o.Change != nil:
		_, err = op.proxy.Live.Change(op.target, *o.Change)
	case o.Undo:
		err = stepHistory(op.proxy.Live.Undo, "nothing to undo")
	case o.Redo:
		err = stepHistory(op.proxy.Live.Redo, "nothing to redo")
	case o.Client != nil:
		err = op.setTarget(*o.Client)
	default:
		return false, nil
	}
	return true, err
}

// stepHistory calls move, which undoes or redoes a change. If there is no change, stepHistory
// returns emptyText as the error.
func stepHistory(move func() (*script.AppliedChange, error), emptyText string) error {
	made, err := move()
	if err == nil && made == nil {
		err = errors.New(emptyText)
	}
	return err
}

// setTarget makes later orders change the links of the client with the given turn, its number in the order of
// joining, or of all clients if turn is 0.
func (op *operator) setTarget(turn int) (err error) {
	if turn == 0 {
		op.target = relay.Client{}
		return nil
	}
	client, err := op.proxy.Client(turn)
	if err == nil {
		op.target = client
	}
	return err
}

// Client returns the client with the given turn, its number in the order of joining. It fails if there is no such client,
// or if all clients share one pair of links.
func (p *Proxy) Client(turn int) (relay.Client, error) {
	if p.Shared {
		return relay.Client{}, errors.New("all clients share one pair of links; it cannot be set for one client")
	}
	var now relay.Snapshot
	p.Snapshot(&now)
	i := slices.IndexFunc(now.Clients, func(c relay.ClientState) bool { return c.Number == turn })
	if i < 0 {
		return relay.Client{}, fmt.Errorf("there is no client %d now; clients are numbered from 1 in the order of joining", turn)
	}
	return now.Clients[i].Client, nil
}
