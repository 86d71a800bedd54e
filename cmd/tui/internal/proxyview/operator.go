package proxyview

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/script"
	"wirelab/experiment/config"
	"wirelab/lossmodel"
	"wirelab/lossmodel/relay"
)

// An operator changes the links of a proxy for the user of the dashboard, or for a program.
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

// execute carries out an order that changes links or selects the client whose links later orders change. It returns
// the change that was applied, nil if none. handled is false for all other orders.
func (op *operator) execute(o command.Order) (made *script.AppliedChange, handled bool, err error) {
	switch {
	case o.Change != nil:
		at, err := op.proxy.Live.Change(op.target, *o.Change)
		if err != nil {
			return nil, true, err
		}
		return &script.AppliedChange{StampedChange: config.Stamp(at, *o.Change), Client: op.target.Number}, true, nil
	case o.Undo:
		made, err = stepHistory(op.proxy.Live.Undo, "nothing to undo")
	case o.Redo:
		made, err = stepHistory(op.proxy.Live.Redo, "nothing to redo")
	case o.Client != nil:
		err = op.setTarget(*o.Client)
	default:
		return nil, false, nil
	}
	return made, true, err
}

// stepHistory calls move, which undoes or redoes a change. If there is no change, stepHistory
// returns emptyText as the error.
func stepHistory(move func() (*script.AppliedChange, error), emptyText string) (*script.AppliedChange, error) {
	made, err := move()
	if err == nil && made == nil {
		err = errors.New(emptyText)
	}
	return made, err
}

// setTarget makes later orders change the links of the client with the given turn, its number in the order of
// joining, or of all clients if turn is 0. It fails if there is no such client, or if all clients share one pair
// of links.
func (op *operator) setTarget(turn int) error {
	if turn == 0 {
		op.target = relay.Client{}
		return nil
	}
	if op.proxy.Shared {
		return errors.New("all clients share one pair of links; it cannot be set for one client")
	}
	var now relay.Snapshot
	op.proxy.Snapshot(&now)
	i := slices.IndexFunc(now.Clients, func(c relay.ClientState) bool { return c.Number == turn })
	if i < 0 {
		return fmt.Errorf("there is no client %d now; clients are numbered from 1 in the order of joining", turn)
	}
	op.target = now.Clients[i].Client
	return nil
}

// A remote executes lines of another program on a running proxy: the commands of the dashboard that concern the proxy
// and not the screen. Each program needs its own remote, because "client 2" selects the client for its later lines.
type remote struct{ operator }

// NewRemote returns a remote for p, of which it uses Snapshot, Live and Shared.
func NewRemote(p Proxy) *remote { return &remote{newOperator(p)} }

// Execute executes a line, such as "down loss 20%" or, with the key of a configuration, "down.loss 20%". It returns the
// change that was applied, nil if none. quit is true if the line requests the end of the proxy.
func (r *remote) Execute(line string) (made *script.AppliedChange, quit bool, err error) {
	o, err := command.Parse(r.Context(), withoutDots(line))
	if err != nil {
		return nil, false, err
	}
	if o.Quit != command.NoQuit {
		return nil, true, nil
	}
	made, handled, err := r.execute(o)
	if !handled {
		name, _, _ := strings.Cut(line, " ")
		err = fmt.Errorf("%q is not a command for a proxy without its screen; expected a setting such as down.loss 20%%, profile, mark, undo, redo, client, totals or quit", name)
	}
	return made, false, err
}

// withoutDots replaces the key of a link in a configuration at the start of a line by its command: "down.loss" by "down
// loss", and "link.loss" by "loss".
func withoutDots(line string) string {
	for _, direction := range []string{"down", "up"} {
		if rest, ok := strings.CutPrefix(line, direction+"."); ok {
			return direction + " " + rest
		}
	}
	return strings.TrimPrefix(line, "link.") // a setting without a direction is for both links
}
