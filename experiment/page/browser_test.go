package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
	"wirelab/internal/testkit"
)

// browserPath returns a browser, and skips the test where there is none.
func browserPath(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes a while")
	}
	if path := os.Getenv("WIRELAB_BROWSER"); path != "" {
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome",
		"headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium here: the pages are not tried in a browser (apt-get install chromium, or WIRELAB_BROWSER=path)")
	return ""
}

// tab is a browser tab with an open page, its requests and its errors.
type tab struct {
	ctx      context.Context
	mu       sync.Mutex
	requests []string
	errors   []string
}

// openTab starts a browser without network access. Requests of the page are recorded and fail.
func openTab(t *testing.T) *tab {
	t.Helper()
	profile, err := os.MkdirTemp("", "wirelab-browser-")
	if err != nil {
		t.Fatal(err)
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browserPath(t)),
		chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.NoFirstRun, chromedp.UserDataDir(profile), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"))
	alloc, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancel := chromedp.NewContext(alloc)
	ctx, late := context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits until the browser has left its profile
		late()
		cancel()
		stop()
		_ = os.RemoveAll(profile)
	})
	b := &tab{ctx: ctx}
	chromedp.ListenTarget(ctx, func(ev any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch ev := ev.(type) {
		case *network.EventRequestWillBeSent:
			b.requests = append(b.requests, ev.Request.URL)
		case *runtime.EventExceptionThrown:
			b.errors = append(b.errors, ev.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if ev.Type == runtime.APITypeError || ev.Type == runtime.APITypeWarning ||
				ev.Type == runtime.APITypeAssert {
				b.errors = append(b.errors, fmt.Sprint("console: ", ev.Args))
			}
		case *log.EventEntryAdded: // the policy and missing files complain here
			b.errors = append(b.errors, ev.Entry.Text)
		}
	})
	b.do(t, network.Enable(), log.Enable(), runtime.Enable())
	return b
}

func (b *tab) do(t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// eval returns the value of an expression.
func eval[T any](t *testing.T, b *tab, expression string) (v T) {
	t.Helper()
	b.do(t, chromedp.Evaluate(expression, &v))
	return v
}

// quiet checks that the page made no requests and reported no errors.
func (b *tab) quiet(t *testing.T, self string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.requests {
		if r != self && !strings.HasPrefix(r, "data:") && !strings.HasPrefix(r, "blob:") {
			t.Errorf("the page requests %s", r)
		}
	}
	for _, e := range b.errors {
		t.Errorf("the page reports: %s", e)
	}
}

// painted returns, for each chart, the pixels of its canvas that differ from the most common colour.
const painted = `[...document.querySelectorAll('.plot canvas')].map((c) => {
  const d = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width,
	c.height).data.buffer), n = new Map();
  for (const p of d) n.set(p, (n.get(p) || 0) + 1);
  return d.length - Math.max(...n.values());
})`

// contrast returns the colours of text and background.
const contrast = `(() => { const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]; })()`

// pagesToTry writes a page of every kind into a folder.
func pagesToTry(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	one, two := saveRun(t, lossy), saveRun(t, strings.Replace(lossy, `encoder = "rotor"`,
		`encoder = "quantized"`, 1))
	lanes := saveRun(t,
		"duration = \"4s\"\n[sender]\nbudget = \"64kbit\"\n[[shadow]]\nname = \"relative-orientation\"\nbudget = \"24kbit\"\n")
	out := map[string]string{}
	for name, d := range map[string]*Document{"run": loaded(t, one), "beside": compared(t, one, two),
		"budgets":            loaded(t, lanes),
		"budgets of a sweep": sweepDocument(budgetSweep(3))} {
		text, _ := render(t, d)
		path := filepath.Join(dir, name+".html")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		out[name] = (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
	}
	return out
}

// TestInBrowser: in a real browser the pages make no requests and report no errors, draw every chart in
// light and dark mode, fit a phone, handle the keyboard and pass the accessibility rules.
func TestInBrowser(t *testing.T) {
	browserPath(t)
	pages := pagesToTry(t)
	b := openTab(t)
	axe := axeScript(t)
	for _, name := range testkit.Choose([]string{"run", "beside", "budgets", "budgets of a sweep"},
		[]string{"run"}) {
		address := pages[name]
		t.Run(name, func(t *testing.T) {
			b.requests, b.errors = nil, nil
			var papers []string
			for _, scheme := range []string{"light", "dark"} {
				b.do(t, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
					chromedp.EmulateViewport(1200, 900), chromedp.Navigate(address))
				drawn(t, b)
				ink := eval[[]string](t, b, contrast)
				papers = append(papers, ink[1])
				if ink[0] == ink[1] {
					t.Errorf("%s: text and paper are %v", scheme, ink)
				}
				if scheme == "light" || name == "run" {
					rules(t, b, axe, scheme)
				}
			}
			if papers[0] == papers[1] {
				t.Errorf("the paper is %s by day and by night", papers[0])
			}
			phone(t, b)
			keyboard(t, b)
			print(t, b)
			b.quiet(t, address)
		})
	}
}

// drawn checks that every chart exists and is not blank.
func drawn(t *testing.T, b *tab) {
	t.Helper()
	want := eval[int](t, b, `JSON.parse(document.getElementById('data').textContent).charts.length`)
	b.do(t, chromedp.Poll(fmt.Sprintf(`document.documentElement.dataset.drawn == %d`, want),
		nil)) // those below the screen follow
	got := eval[[]int](t, b, painted)
	if want == 0 || len(got) != want {
		t.Fatalf("%d charts are drawn of %d", len(got), want)
	}
	for i, n := range got {
		if n < 200 {
			t.Errorf("chart %d is blank: %d pixels", i, n)
		}
	}
}

// phone checks that nothing scrolls horizontally at 360 pixels.
func phone(t *testing.T, b *tab) {
	t.Helper()
	b.do(t, chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile), chromedp.Reload(),
		chromedp.Sleep(200*time.Millisecond))
	if w := eval[int](t, b, `document.documentElement.scrollWidth`); w > 360 {
		wide := eval[[]string](t, b,
			`[...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > 361 && !e.closest('.wide') && !e.closest('pre')).slice(0, 5).map((e) => e.tagName + '.' + e.className)`)
		t.Errorf("the page is %d pixels wide on a phone of 360: %v", w, wide)
	}
	for i, w := range eval[[]int](t, b,
		`[...document.querySelectorAll('.plot canvas')].map((c) => c.getBoundingClientRect().width)`) {
		if w < 200 || w > 360 {
			t.Errorf("chart %d is %d pixels wide on a phone of 360", i, w)
		}
	}
	drawn(t, b)
	b.do(t, chromedp.EmulateViewport(1200, 900), chromedp.Reload())
	drawn(t, b)
}

// keyboard moves the cursor of a chart, zooms all charts of the section and back.
func keyboard(t *testing.T, b *tab) {
	t.Helper()
	key := func(k string) string {
		return fmt.Sprintf(`document.querySelector('.plot').dispatchEvent(new KeyboardEvent('keydown', {key: %q, bubbles: true, cancelable: true}))`, k)
	}
	looks := `[...document.querySelectorAll('.plot canvas')].map((c) => c.toDataURL().length + c.toDataURL().slice(-400)).join()`
	before := eval[string](t, b, looks)
	b.do(t, chromedp.Evaluate(key("ArrowRight"), nil), chromedp.Sleep(50*time.Millisecond))
	if said := eval[string](t, b, `document.querySelector('.note').textContent`); said == "" {
		t.Error("the arrow key announces nothing to screen readers")
	}
	b.do(t, chromedp.Evaluate(key("+"), nil), chromedp.Sleep(100*time.Millisecond))
	if eval[string](t, b, looks) == before {
		t.Error("+ does not zoom")
	}
	b.do(t, chromedp.Evaluate(key("0"), nil), chromedp.Sleep(100*time.Millisecond))
	if eval[string](t, b, looks) != before {
		t.Error("0 does not show all again")
	}
	if n := eval[int](t, b,
		`document.querySelectorAll('.plot:not([tabindex="0"]), .plot:not([aria-label])').length`); n > 0 {
		t.Errorf("%d charts cannot be reached, or have no name", n)
	}
}

// print prints the page and checks the size of the PDF.
func print(t *testing.T, b *tab) {
	t.Helper()
	var pdf []byte
	b.do(t, chromedp.ActionFunc(func(ctx context.Context) (err error) {
		pdf, _, err = page.PrintToPDF().WithPrintBackground(true).Do(ctx)
		return err
	}))
	if !bytes.HasPrefix(pdf, []byte("%PDF")) || len(pdf) < 20_000 {
		t.Errorf("printed, it is %d bytes", len(pdf))
	}
	drawn(t, b) // again as it was
}

// axeScript returns axe-core, "" if it is not available.
func axeScript(t *testing.T) string {
	path := os.Getenv("WIRELAB_AXE")
	if path == "" {
		t.Log("WIRELAB_AXE names no axe.min.js: axe-core's rules are not tried (npm pack axe-core)")
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// rules checks that axe-core finds no violations.
func rules(t *testing.T, b *tab, axe, scheme string) {
	t.Helper()
	if axe == "" {
		return
	}
	b.do(t, chromedp.Evaluate(axe+"; 0", nil))
	var found string
	b.do(t, chromedp.Evaluate(`axe.run(document, {resultTypes: ['violations']}).then((r) => JSON.stringify(r.violations.map((v) => ({id: v.id, help: v.help,
		nodes: v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + ' ' +
			n.failureSummary)}))))`, &found, func(p *runtime.EvaluateParams) *runtime.EvaluateParams {
		return p.WithAwaitPromise(true)
	}))
	var list []any
	if err := json.Unmarshal([]byte(found), &list); err != nil {
		t.Fatal(err)
	}
	for _, v := range list {
		t.Errorf("%s: %v", scheme, v)
	}
}

// TestTenMinutes: the page of a run of ten minutes opens quickly. The time depends on the machine and is
// only logged; the test checks what it depends on, the number of points and bytes.
func TestTenMinutes(t *testing.T) {
	rows := &rows{}
	for i := range 6000 {
		bits := int64(100 * (100 + 50*(i%37)/37))
		rows.Sample(&meters.Sample{T: time.Duration(i+1) * meters.SamplePeriod, Width: meters.SamplePeriod, Counts: figures.Counts{Sent: 6, Lost: 1},
			Sizes: meters.Sizes{PayloadBits: bits, WireBits: bits, FeedbackBits: 1600, Items: bits / 3, Changed: bits / 50, BaselineAge: 42, Referenced: 6},
			Shown: meters.Shown{Displayed: 6, Starved: i % 90 / 89}})
	}
	for i := range 36_000 {
		row := []string{fmt.Sprint(i), "0", fmt.Sprint(i * 16667), fmt.Sprint(i*16667 + 50_000 + i%977*10),
			"decoded", "", ""}
		if i%19 == 0 {
			row[3], row[4], row[5], row[6] = "lost", "lost", "lost", fmt.Sprintf("packet %d was lost: the loss stage is in its bad state, in which packets are lost in bursts", i)
		}
		rows.Packet(testPacket(row))
	}
	l, err := Load(saveRun(t, lossy))
	if err != nil {
		t.Fatal(err)
	}
	l.Run.Rows = rows
	text, _ := render(t, l.Document())
	if data := len(dataOf.FindString(text)); len(text)-data > 300_000 || data > 400_000 {
		t.Errorf("%d bytes, of which %d are data", len(text), data)
	}
	if !testkit.Thorough() {
		t.Skip("its size is as it should be; it is opened in a browser under WIRELAB_THOROUGH=1")
	}
	path := filepath.Join(t.TempDir(), "ten.html")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	b := openTab(t)
	b.do(t, chromedp.EmulateViewport(1200, 900))
	for range 3 {
		b.do(t, chromedp.Navigate("file://"+filepath.ToSlash(path)))
		t.Logf("opened after %.0f ms", eval[float64](t, b,
			`performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd`))
	}
	drawn(t, b)
}
