package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/control"
	"wirelab/cmd/tui/internal/proxyview"
	"wirelab/cmd/tui/internal/script"
	"wirelab/experiment/config"
	"wirelab/lossmodel/relay"
)

// controlHelp is the part of the help of tui proxy about --control.
const controlHelp = `With --control another program, such as a test, changes the links and reads the totals
during the run, by HTTP with JSON. With --token-file, which tcp:ADDR needs, requests have the
header Authorization: Bearer TOKEN.

  GET /            the document of --json, until now
  PATCH /          change settings: {"down.loss": "20%", "profile": "lte"}
  PATCH /?client=2 change the links of the second client only
  POST /mark       add a mark to the changes: {"text": "level 2"}
  GET /events      a line for each change, as it takes effect
  curl --unix-socket proxy.sock http://localhost/ -X PATCH -d '{"loss": "5%"}'

`

// openControl opens the socket of --control and returns its token. Without --control both are zero.
func (a *app) openControl(ctx context.Context, f *proxyFlags) (server *control.Server, token string, err error) {
	switch {
	case f.control == "" && f.tokenFile != "":
		return nil, "", usagef("--token-file has no effect without --control ADDR")
	case f.control == "":
		return nil, "", nil
	}
	server, err = control.Listen(ctx, f.control)
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

// controlHandler returns the handler of requests to --control. It reports each change.
func (p *runningProxy) controlHandler(report func(format string, args ...any)) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		var now relay.Snapshot
		p.relay.Snapshot(&now)
		control.Reply(w, http.StatusOK, p.newDocument(&now, "running"))
	})
	// change answers with the change that parse finds in the body of a request.
	change := func(parse func(*json.Decoder) (config.Change, error)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			made, err := p.change(r, parse)
			if err != nil {
				control.Fail(w, http.StatusBadRequest, err)
				return
			}
			report("%7.1f s  control: %s", made.TS, made.Label())
			control.Reply(w, http.StatusOK, made)
		}
	}
	mux.HandleFunc("PATCH /{$}", change(parseSettings))
	mux.HandleFunc("POST /mark", change(parseMark))
	mux.HandleFunc("GET /events", p.sendEvents)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		control.Fail(w, http.StatusNotFound, fmt.Errorf("%s %s is unknown; expected GET /, PATCH /, POST /mark or GET /events", r.Method, r.URL.Path))
	})
	return mux
}

// change makes the change that parse finds in the body of a request, for the client that the request names, or for all.
func (p *runningProxy) change(r *http.Request, parse func(*json.Decoder) (config.Change, error)) (made script.AppliedChange, err error) {
	var client relay.Client
	if text := r.URL.Query().Get("client"); text != "" {
		number, err := strconv.Atoi(text)
		if err != nil {
			return made, fmt.Errorf("client %q is not a number; expected 1 for the first client that joined", text)
		}
		view := proxyview.Proxy{Snapshot: p.relay.Snapshot, Shared: p.flags.shared}
		if client, err = view.Client(number); err != nil {
			return made, err
		}
	}
	ch, err := parse(json.NewDecoder(r.Body))
	if err != nil {
		return made, err
	}
	at, err := p.live.Change(client, ch)
	return script.AppliedChange{StampedChange: config.Stamp(at, ch), Client: client.Number}, err
}

// parseSettings parses the settings of links: {"profile": "lte", "down.loss": "20%"}.
func parseSettings(body *json.Decoder) (ch config.Change, err error) {
	const expected = `expected settings, as in {"down.loss": "20%"}`
	var settings map[string]any
	if err := body.Decode(&settings); err != nil || len(settings) == 0 {
		return nil, errors.New("the body is no JSON object with settings; " + expected)
	}
	for key, value := range settings {
		if err := ch.Set(key, value); err != nil {
			return nil, err
		}
	}
	if other := ch.WithoutLinks(); len(other) > 0 {
		return nil, fmt.Errorf("%s is no setting of a link; %s", other.Keys()[0], expected)
	}
	return ch, nil
}

// parseMark parses the text of a mark: {"text": "level 2"}.
func parseMark(body *json.Decoder) (ch config.Change, err error) {
	var mark struct{ Text string }
	if err := body.Decode(&mark); err != nil || mark.Text == "" {
		return nil, errors.New(`the body has no text; expected {"text": "level 2"}`)
	}
	return config.NewChange("mark", mark.Text), nil
}

// sendEvents sends each change as a line of JSON, from the first change of the run on, until the program closes the
// connection or the proxy ends.
func (p *runningProxy) sendEvents(w http.ResponseWriter, r *http.Request) {
	const pollEvery = 50 * time.Millisecond
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	flush := http.NewResponseController(w).Flush
	for sent := 0; ; {
		for _, made := range p.live.Changes(sent) {
			var line bytes.Buffer
			if err := json.NewEncoder(&line).Encode(made); err != nil {
				panic(err) // all changes can be encoded
			}
			sent++
			_, _ = w.Write(line.Bytes()) // Flush returns the error
		}
		if err := flush(); err != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
	}
}
