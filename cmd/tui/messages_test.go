package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestErrorMessages checks that every error in flags and configurations is reported in one
// sentence, with file, line, key, what was expected and the most similar name. A row contains a
// file, called FILE in args and want, or only flags.
func TestErrorMessages(t *testing.T) {
	const check = "check FILE"
	long := strings.Repeat("k", 5000)
	for _, c := range []struct {
		text string
		args string
		want string // the expected sentence; ... stands for any text
	}{
		{"seed = 1\n[data]\nscript = \"nope\"", check,
			`FILE:3: data.script: unknown name "nope"; expected one of idle, roll, hover, katamari, demo, random`},
		{"[data]\nscript = \"katamri\"", check, `FILE:2: data.script: unknown name "katamri"; expected one of ...; did you mean katamari?`},
		{"[data]\nsource = \"world:nope\"", check, `FILE:2: data.source: unknown name "nope"; expected one of ...random`},
		{"[data]\nsource = \"wrld\"", check, `FILE:2: data.source: unknown name "wrld"; did you mean world? tui datasets lists all`},
		{"data = \"demo\"", check, `FILE:1: data: is a table; expected a key of it, such as data.source`},
		{"[[sender]]\nrate_hz = 3", check, `FILE:1: sender[0]: is not a list of tables; expected one table, as in [sender]`},

		{"", "run --set down=1", `--set down=1: 1 is invalid; expected a key of the link, such as down.loss = "5%"`},
		{"down = \"lte\"", check, `FILE:1: down: "lte" is invalid; expected a key of the link, such as down.loss = "5%"`},
		{"[[at]]\nt = \"1s\"\nup = 1", check, `FILE:3: at[0].up: 1 is invalid; expected a key of the link, such as up.loss = "5%"`},
		{"seed = 1\n[down]\ntrace = \"/nope\"", check,
			`FILE:3: down.trace: bad file "/nope": no such file or directory; expected the path of a file`},
		{"[up]\nlatency = \"1ms\"\ndelay_trace = \"/nope\"", check,
			`FILE:3: up.delay_trace: bad file "/nope": no such file or directory; expected the path of a file`},
		{"", "run --set queue=codel", `--set queue=codel: got "codel"; expected a size ...; did you mean queue_discipline?`},
		{"", "run --set loss=200%", `--set loss=200%: got "200%"; expected a percentage ...`},
		{"", "run --set foo=1", `--set foo=1: unknown key "foo"; expected one of 21 names: receiver, sender, ...`},
		{"", "run --set down.trace=/nope",
			`down.trace: bad file "/nope": no such file or directory; expected the path of a file`},
		{"[down]\nlos = \"5%\"", check, `FILE:2: down.los: unknown key "los"; did you mean loss?`},
		{"profile = \"ltee\"", check, `FILE:1: profile: unknown link profile "ltee"; did you mean lte? tui links lists all`},

		{"[[at]]\nt = \"1s\"\ndata.source = \"rpc\"", check,
			`FILE:3: at[0].data.source: cannot be changed during a run; expected one of ...`},
		{"[[at]]\nt = \"1s\"\nloss = \"1%\"\n[[at]]", check,
			`FILE:4: at[1]: empty table; expected t = "10s" and a change, such as loss = "5%"`},
		{"\n[at]\nt = \"1s\"\nloss = \"1%\"", check, `FILE:2: at: is a list of tables, got one table; expected [[at]]`},
		{"[[at]]\nt = \"1s\"\nlos = \"1%\"", check, `FILE:3: at[0].los: unknown key "los"; did you mean loss?`},
		{"[[shadow]]\nname = \"raw\"\n[[shadow]]", check, `FILE:3: shadow[1]: empty table; expected name = "an encoder"`},
		{strings.Repeat("[[shadow]]\nname = \"raw\"\n", 2000), check,
			`FILE:129: shadow[64]: 2000 shadows are too many; expected at most 64 shadows`},
		{"[data]\ncubes = 65535\nsource = \"" + cubes(t, 65535) + "\"\n" + rotors(60), check,
			`FILE:...: shadow[59]: needs about ... GB: 61 encoders store 510 frames of ... values each; expected at most 8 GB, for example sender.history and receiver.history of ...; or --force with tui run`},

		{"[sweep]\nrepeat = 0", check, `FILE:2: sweep[0].repeat: 0 is invalid; expected a whole number from 1 to 1000 seeds`},
		{"[sweep]\nrepeet = 2", check, `FILE:2: sweep.repeet: unknown key "repeet"; expected one of repeat, axis; did you mean repeat?`},
		{"[sweep]\nrepeat = 2\n[[sweep.axis]]\nkey = \"down.loss\"\nvalues = [\"x\"]", check,
			`FILE:5: sweep[0].values[0]: down.loss = "x": got "x"; expected a percentage from 0% to 100%, such as "5%"`},
		{"[sweep]\naxis = 3", check, `FILE:2: sweep.axis: is not a list of tables; expected [[sweep.axis]], with key = ...`},
		{"[[sweep]]\nkey = \"seed\"\nvalues = [1]\n[[sweep]]\nrepeat = 2", check,
			`FILE:2: sweep[0].key: seed cannot be swept with repeat, which sets the seeds; expected another key, or no repeat`},
		{"[[sweep]]\nkey = \"down.loss\"\nvalues = [\"0%\"]\nrepeat = 2", check,
			`FILE:4: sweep[0].repeat: repeat applies to the whole grid, not to "down.loss"; expected an entry of its own: ...`},
		{"[sweep]\nrepeat = 1000\n[[sweep.axis]]\nkey = \"sender.window\"\nvalues = [" + strings.Repeat("1,", 101) + "]", check,
			`FILE:1: sweep: 101 points with 1000 seeds each are 101000 runs; expected at most 100000`},
		{"duration = \"1s\"", "sweep FILE --verify lots", `--verify "lots" makes no sense; expected a share of the runs, such as 1%`},
		{"duration = \"1s\"", "sweep FILE --queue a --serve b", `--queue and --serve both choose a server; expected one of them`},
		{"", "sweep --resume /nope", `/nope/sweep.json: cannot be read: no such file or directory; expected the folder of a sweep, as tui sweep --out writes it`},
		{"duration = \"1s\"", "sweep FILE --jobs -3", `--jobs -3 makes no sense; expected a number of runs, 1 or more`},
		{"{\"plan\": \"x\", \"version\": \"v1\", \"points\": []}", "compare FILE FILE",
			`FILE: was written by tui sweep, and contains the points of the grid but not the runs; expected a report.json that ...`},
		{"", "worker", `--queue is missing; expected the URL that tui sweep --serve prints`},
		{"[[sweep]]\nkey = \"down.loss\"\nvalues = []", check,
			`FILE:3: sweep[0].values: [] is invalid; expected a list of plain values, such as ...`},
		{"[[sweep]]\nkey = \"down.loss\"\nvalues = \"5%\"", check,
			`FILE:3: sweep[0].values: "5%" is invalid; expected a list of plain values, such as ...`},
		{"[[sweep]]\nkey = \"down.loss\"\nvalues = [{ model = \"gilbert\" }]", check,
			`FILE:3: sweep[0].values: a table cannot be swept; expected a list of plain values, such as ...`},
		{"[[sweep]]\nkey = \"down.loss\"\nvalues = [\"0%\", { model = \"gilbert\" }]", check,
			`FILE:3: sweep[0].values[1]: a table or a list cannot be swept; expected a list of plain values, such as ...`},
		{"[[sweep]]", check, `FILE:1: sweep[0]: empty table; expected key = "down.loss" and values = ["0%", "5%"], or repeat = 30`},
		{"[[sweep]]\nkey = \"sweep[0].key\"\nvalues = [1]", check,
			`FILE:2: sweep[0].key: "sweep[0].key" cannot be swept; expected a key such as "down.loss"`},
		{"[[sweep]]\nkey = \"seed\"\nvalues = [1]\n[[sweep]]\nkey = \"seed\"\nvalues = [2]", check,
			`FILE:5: sweep[1].key: "seed" is swept twice; expected each key once`},
		{"[[sweep]]\nkey = \"down.loss\"\nvalues = [\"0%\", \"200%\"]", check,
			`FILE:3: sweep[0].values[1]: down.loss = "200%": got "200%"; expected a percentage ...`},
		{"[[sweep]]\nkey = \"data.source\"\nvalues = [\"rpc\", \"demo\"]\n[[sweep]]\nkey = \"encoder.name\"\nvalues = [\"rpc-delta\"]", check,
			`FILE:6: sweep[1].values: at the point data.source = demo, encoder.name = rpc-delta: encoder.name: rpc-delta cannot encode the data of demo, cubes; expected one of ...`},
		{"[[sweep]]\nkey = \"data.source\"\nvalues = [\"demo\", \"/nope.bin\"]", check,
			`FILE:3: sweep[0].values: at the point data.source = /nope.bin: data.source: /nope.bin: no such file or directory`},
		{"[[sweep]]\nkey = \"down.trace\"\nvalues = [\"off\", \"/nope\"]", check,
			`FILE:3: sweep[0].values: at the point down.trace = /nope: down.trace: bad file "/nope": no such file or directory; expected the path of a file`},
		{"[[sweep]]\nkey = \"seed\"\nvalues = [" + numbers(100) + "]\n[[sweep]]\nkey = \"sender.history\"\nvalues = [" + numbers(101) +
			"]", check,
			`FILE:6: sweep[1].values: the grid has at least 10100 points; expected at most 10000`},

		{"[encoder]\nname = \"zzz\"", check, `FILE:2: encoder.name: unknown encoder "zzz"; expected one of 28 names: raw, at-rest, ...; tui encoders lists all`},
		{"[encoder]\nname = \"rottor\"", check, `FILE:2: encoder.name: unknown encoder "rottor"; did you mean rotor? tui encoders lists all`},
		{"", "run --encoder zzzz", `encoder.name: unknown encoder "zzzz"; expected one of 28 names: raw, ...`},
		{"[encoder]\nparams = 3", check, `FILE:2: encoder.params: 3 is invalid; expected a parameter, such as encoder.params.NAME = VALUE; tui encoders ENCODER lists the parameters`},

		{"# " + strings.Repeat("x", 50<<20), check, `FILE: has more than 1048576 bytes; expected a TOML file`},
		{"\ufeffsed = 7", check, `FILE:1: sed: unknown key "sed"; did you mean seed?`},
		{"\xff\xfes\x00e\x00", check, `FILE:1: the text is in UTF-16, as PowerShell writes it; expected UTF-8`},
		{"\"a\\u0000\\u001b[31mb\" = 1", check, `FILE:1: a\x00\x1b[31mb: unknown key "a\x00\x1b[31mb"; expected one of ...`},
		{"[data]\nsource = \"./a\\u0000b\"", check, `FILE:2: data.source: ./a\x00b: invalid argument`},
		{long + " = 1", check, `FILE:1: ` + long[:80] + `...: unknown key "` + long[:80] + `..."; expected one of ...`},
		{"duration = \"-1s\"", check, `FILE:1: duration: "-1s" is invalid; expected a time such as "60s" or "2m"; "0s" means once through a recording, or 60 s of an endless source`},

		{`{"version": 2, "digest_version": 7}`, "replay FILE", `FILE: lacks config, duration_ns or digest; expected a report.json that ...`},
		{`{"version": 2, "digest_version": 7, "config": {"encoder": {"name": "rottor"}}, "digest": "x", "duration_ns": 1, "frames": 1}`, "replay FILE",
			`FILE: config.encoder.name: unknown encoder "rottor"; did you mean rotor? tui encoders lists all`},
		{`{"version": 2, "digest_version": 7, "config": {"data": {"source": "/nope.bin"}}, "digest": "x", "duration_ns": 1, "frames": 1}`, "replay FILE",
			`FILE: data.source: /nope.bin: no such file or directory`},
		{`{"version": 2, "digest_version": 7, "config": {}, "digest": "x", "duration_ns": 9223372036854775807, "frames": 1}`, "replay FILE",
			`FILE: duration_ns: 9223372036854775807 exceeds the maximum duration of a run; expected at most 3600000000000000, which is 1000 h`},
	} {
		file := filepath.Join(t.TempDir(), "it.toml")
		write(t, file, c.text)
		o := tui(strings.ReplaceAll(c.args, "FILE", file))
		got := strings.TrimPrefix(strings.ReplaceAll(o.stderr, file, "FILE"), "tui: ")
		if o.code != exitUsage || !fits(strings.TrimSuffix(got, "\n"), c.want) {
			t.Errorf("%.60q %v: exit %d\n%s\nwant\n%s", c.text, c.args, o.code, got, c.want)
		}
	}
}

// fits reports whether text matches a pattern in which ... stands for any text.
func fits(text, pattern string) bool {
	parts := strings.Split(pattern, "...")
	rest, found := strings.CutPrefix(text, parts[0])
	for _, part := range parts[1:] {
		if !found {
			return false
		}
		_, rest, found = strings.Cut(rest, part)
	}
	return found && (rest == "" || strings.HasSuffix(pattern, "..."))
}

// rotors returns n shadows that differ in a parameter.
func rotors(n int) (text string) {
	for i := range n {
		text += "[[shadow]]\nname = \"rotor\"\nparams.rotor_steps = " + strconv.Itoa(200+i) + "\n"
	}
	return text
}

// numbers lists 1 to n.
func numbers(n int) string {
	var list []string
	for i := range n {
		list = append(list, strconv.Itoa(i+1))
	}
	return strings.Join(list, ", ")
}

// cubes writes a recording of n cubes that never move, and returns its path.
func cubes(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cubes.bin")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(7 * int64(n) * 32); err != nil {
		t.Fatal(err)
	}
	return path
}
