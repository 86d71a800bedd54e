package main

import (
	"context"

	"wirelab/cmd/tui/internal/lineserver"
	"wirelab/cmd/tui/internal/proxyview"
	"wirelab/lossmodel/relay"
)

// controlHelp is the part of the help of tui proxy about --control.
const controlHelp = `With --control another program, such as a test, changes the links and reads the totals
during the run. Each line is a command of the dashboard, and is answered with one line of
JSON: {"ok":true,...}, or {"ok":false,"error":"..."}. The first line must be the token if
--token-file is given, which tcp:ADDR needs.

  down.loss 20%                the key of a configuration, or as on the dashboard: down loss 20%
  profile lte
  client 2                     the lines after it are about client 2; client all ends that
  undo, redo
  mark level 2                 a mark in the changes of the report
  totals                       the document of --json, until now
  quit                         end the proxy and print the totals

`

// openControl opens the socket of --control and returns its token. Without --control both are zero.
func (a *app) openControl(ctx context.Context, f *proxyFlags) (server *lineserver.Server, token string, err error) {
	switch {
	case f.control == "" && f.tokenFile != "":
		return nil, "", usagef("--token-file has no effect without --control ADDR")
	case f.control == "":
		return nil, "", nil
	}
	server, err = lineserver.Listen(ctx, f.control)
	if err != nil {
		return nil, "", asUsageError(withFlag("--control", withoutSyscall(err)))
	}
	if f.tokenFile != "" {
		token, _, err = a.serverToken(ctx, f.tokenFile)
	} else if server.NeedsToken() {
		err = usagef("--control %s expects --token-file FILE, because every user of this machine can connect", f.control)
	}
	if err != nil {
		server.Close()
		return nil, "", err
	}
	return server, token, nil
}

// Answers to lines of --control.
type (
	controlAnswer struct {
		OK     bool    `json:"ok"`
		At     float64 `json:"t_s"`              // time of the answer or, after a change, when it took effect
		Change string  `json:"change,omitempty"` // the change that was applied
		Client int     `json:"client,omitempty"` // the client that it was applied to; 0 means all
	}
	controlTotals struct {
		OK bool `json:"ok"`
		proxyDocument
	}
)

// newControlSession returns the function that answers the lines of one connection. It reports each change, and calls
// quit if a line requests the end of the proxy.
func (p *runningProxy) newControlSession(report func(format string, args ...any), quit func()) func(line string) any {
	remote := proxyview.NewRemote(proxyview.Proxy{Snapshot: p.relay.Snapshot, Live: p.live, Shared: p.flags.shared})
	return func(line string) any {
		var now relay.Snapshot
		if line == "totals" {
			p.relay.Snapshot(&now)
			return controlTotals{true, p.newDocument(&now, "running")}
		}
		made, end, err := remote.Execute(line)
		if err != nil {
			return lineserver.Failure{Error: err.Error()}
		}
		if end {
			quit()
		}
		if made == nil {
			p.relay.Snapshot(&now)
			return controlAnswer{OK: true, At: now.Totals.At.Seconds()}
		}
		report("%7.1f s  control: %s", made.TS, made.Label())
		return controlAnswer{OK: true, At: made.TS, Change: made.Change.Label(), Client: made.Client}
	}
}
