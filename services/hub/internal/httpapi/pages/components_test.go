package pages_test

import (
	"bytes"
	"fmt"
	"html"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/testkit"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	resolutionv1 "github.com/signalcast/signalcast/proto/resolution/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
)

// TestComponents writes testdata/components.html, which has each component in each state, cut out of the pages: the text from the
// first start to the next end. The system tests check it in a browser.
func TestComponents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.recorded()
	status := func(status, outcome string, disputed bool) func() {
		return func() {
			b.edit(nil, nil, func(m *marketv1.Market) { m.Status, m.YesBps = status, nil }, func(answer proto.Message) {
				if a, ok := answer.(*resolutionv1.GetOutcomeResponse); ok {
					a.Outcome = &resolutionv1.Outcome{
						Outcome: &outcome, Resolver: proto.String("oracle"), Source: proto.String("polymarket"), Disputed: disputed,
						ResolvedAt: timestamppb.New(b.clock.Now()),
					}
				}
			})
		}
	}
	result := func(status string, score int32) func() {
		return func() {
			b.edit(func(s *signalv1.Signal) {
				s.Status, s.Score, s.Counted, s.ResolvedAt = status, &score, proto.Bool(true), timestamppb.New(b.clock.Now())
			}, nil, nil, nil)
		}
	}
	const market, receipt = "/m/" + gauge, "/receipts/" + callID
	var out bytes.Buffer
	out.WriteString("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Components</title>\n" +
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
	files, err := filepath.Glob("static/css/*.css")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		fmt.Fprintf(&out, "<link rel=\"stylesheet\" href=\"../%s\">\n", name)
	}
	out.WriteString("</head><body class=\"wide\"><main><h1>Components</h1>\n")
	for _, c := range []struct {
		name, path, start, end string
		set                    func()
	}{
		{"Price, open market", market, `<div class="m-price">`, "</div>", nil},
		{"Header", market, `<header class="bar"`, "</header>", nil},
		{"Steps", "/", `<ol class="steps">`, "</ol>", nil},
		{"Call panel", market, `<section class="panel call"`, "</section>", nil},
		{"Activity with relative times", "/feed", `<ol class="stream"`, "</ol>", nil},
		{"Badge, open market", market, `<span class="status`, "</span>", nil},
		{"Facts with times", market, `<dl class="facts m-facts">`, "</dl>", nil},
		{"Chart", market, `<figure class="chart">`, "</figure>", nil},
		{"Form: fields and button", "/markets", `<form class="find"`, "</form>", nil},
		{"Calls: handle, side, price, time", market, `<div class="wide-table">`, "</div>", nil},
		{"Score, open call", receipt, `<article class="ticket`, "</article>", nil},
		{"Score, won call", receipt, `<article class="ticket`, "</article>", result("won", 31)},
		{"Score, void call", receipt, `<article class="ticket`, "</article>", result("void", 0)},
		{"Score, lost call", receipt, `<article class="ticket`, "</article>", result("lost", -69)},
		{"Result of a lost call", market, `<div class="wide-table">`, "</div>", nil},
		{"Badge, resolved market", market, `<span class="status`, "</span>", status("resolved", "NO", false)},
		{"Price, resolved market", market, `<div class="m-price">`, "</div>", nil},
		{"Outcome", market, `<section class="outcome`, "</section>", nil},
		{"Badge, disputed market", market, `<span class="status`, "</span>", status("resolved", "NO", true)},
		{"Forecaster: handle and tier", "/u/mara_k", `<header class="passport">`, "</header>", nil},
		{"Forecaster with a picture", "/u/mara_k", `<header class="passport">`, "</header>", func() {
			b.ledger.Exec(`UPDATE users SET avatar_url = 'https://img.example/m.png' WHERE handle = 'mara_k'`)
		}},
		{"Tally", "/u/mara_k", `<dl class="tally">`, "</dl>", nil},
		{"Edge", "/u/mara_k", `<figure class="edge">`, "</figure>", nil},
		{"Chart of points", "/u/mara_k", `<figure class="chart course">`, "</figure>", nil},
		{"Long-shot wins", "/u/mara_k", `<ul class="moments">`, "</ul>", nil},
		{"Form field with an error", "/compare?a=mara_k&b=mara_k", `<form class="find pair"`, "</p>", nil},
		{"Empty state", "/markets?q=zzz", `<div class="empty">`, "</div>", nil},
	} {
		if c.set != nil {
			c.set()
		}
		page := b.get(c.path).Body.String()
		_, rest, found := strings.Cut(page, c.start)
		part, _, ended := strings.Cut(rest, c.end)
		if !found || !ended {
			t.Fatalf("%s: %s has no %s", c.name, c.path, c.start)
		}
		if !strings.HasPrefix(c.end, "</") {
			c.end = "" // the next element
		}
		fmt.Fprintf(&out, "<section class=\"panel\"><h2>%s</h2>\n%s%s%s</section>\n", html.EscapeString(c.name), c.start, part, c.end)
	}
	out.WriteString("</main></body></html>\n")
	testkit.Golden(t, "components.html", out.Bytes())
}
