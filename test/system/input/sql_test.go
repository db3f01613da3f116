package input

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// TestNoStatementsFromInput checks that no text of a request becomes part of an SQL statement. It sends fragments of SQL in
// every parameter and member. It then compares the statements that Postgres has run with the statements in the sources of the
// services.
func TestNoStatementsFromInput(t *testing.T) {
	// Statements within functions and triggers must be recorded as well.
	s := stack.Exclusive(t, stack.Hubs(2), stack.Postgres("pg_stat_statements.track=all"))
	if _, err := s.DB(t).Exec(t.Context(), "CREATE EXTENSION IF NOT EXISTS pg_stat_statements"); err != nil {
		t.Fatal(err)
	}
	p := &prober{s: s, doc: openapi.ForTest(t), crowd: stack.NewCrowd(200), author: s.NewAuthor(t), times: &stack.Times{}}
	p.operators = s.SeedOperators(t, stack.Size(t, 30, 150, 300))
	for range 25 {
		p.markets = append(p.markets, s.NewNativeMarket(t, 5000, nil))
	}
	for i, w := range s.WriteRoutes(p.author) {
		p.do(t, w.Method, s.Base(w.Service, i)+w.Path, w.Sets(nil)...)
	}
	p.send(t, ordinary(p.author))
	before := statements(t, s)
	fragments := sqlFragments()
	p.send(t, fragments[:stack.Size(t, 20, len(fragments), len(fragments))])
	sources := readSources(t)
	for statement := range statements(t, s) {
		if !before[statement] && !sources[shape(statement)] {
			t.Errorf("Postgres has run a statement that the services do not contain: %s", strings.Join(strings.Fields(statement), " "))
		}
	}
	// The services stop a request after 10 s.
	if longest := p.times.Quantile(1); longest > 15*time.Second {
		t.Errorf("the slowest answer took %v; want at most 10 s, or 15 s on a loaded machine", longest)
	}
}

// statements returns the normalized SQL statements that the services have run.
func statements(t *testing.T, s *stack.Stack) map[string]bool {
	t.Helper()
	rows, err := s.DB(t).Query(t.Context(), `SELECT query FROM pg_stat_statements
		WHERE userid IN (SELECT oid FROM pg_roles WHERE rolname IN ('api_rw', 'hub_rw', 'clock_rw'))`)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, text := range list {
		all[text] = true
	}
	return all
}

var (
	sqlComment = regexp.MustCompile(`(?m)--.*$`)
	sqlValue   = regexp.MustCompile(`(?i)\$\d+|'(?:[^']|'')*'|\b(?:\d+|null|true|false)\b`)
)

// shape returns an SQL statement without values, comments and white space, for comparisons.
func shape(text string) string {
	text = sqlValue.ReplaceAllString(sqlComment.ReplaceAllString(text, ""), "?")
	return strings.Trim(strings.Join(strings.Fields(text), " "), "; ")
}

// readSources returns the shapes of the SQL statements in the source files of the services. The test accepts these, because
// background work may run some of them for the first time during the test.
func readSources(t *testing.T) map[string]bool {
	t.Helper()
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	err = filepath.WalkDir(filepath.Join(root, "services"), func(path string, d fs.DirEntry, err error) error {
		extension := filepath.Ext(path)
		if err != nil || d.IsDir() || extension != ".sql" && extension != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		raw, err := os.ReadFile(path)
		if extension == ".sql" {
			for statement := range strings.SplitSeq(string(raw), ";") {
				out[shape(statement)] = true
			}
			out[shape(string(raw))] = true
			return err
		}
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, raw, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				if value, err := strconv.Unquote(text.Value); err == nil {
					out[shape(value)] = true
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sqlFragments returns 200 texts that would change a statement into which they are inserted.
func sqlFragments() (out []string) {
	for _, f := range []string{
		"'", "''", "\"", "`", "\\", "';", "'--", "')", "'))--", "' OR '1'='1", "' OR 1=1--", "\" OR \"\"=\"", "1 OR 1=1",
		"1; SELECT pg_sleep(3)", "'; SELECT pg_sleep(3)--", "'||pg_sleep(3)||'", "1) UNION SELECT NULL--",
		"' UNION SELECT usename, passwd FROM pg_shadow--", "'; DROP TABLE api.signals;--", "'; UPDATE api.users SET handle = 'x';--",
		"$1", "$2", "$$;SELECT 1;$$", "%27%20OR%201=1", "%", "_", "%%%", "\\'; SELECT 1--", "E'\\047'", "U&'\\0027'",
		"CAST('x' AS int)",
		"(SELECT version())", "{{1+1}}", "${1}", "array[1]", "'::int", "\u02bc OR 1=1", "\uff07 OR 1=1", "1e1000", "-1",
	} {
		out = append(out, f, "native-0"+f, f+"/*", strings.ToUpper(f)+" ", f+f)
	}
	return out
}

// ordinary returns valid texts for parameters, so that every read has run all its SQL statements before the test.
func ordinary(a *stack.Author) []string {
	return []string{
		"", "1", "x", "YES", "open", "ended", "all", "human", "agents", "hot", "close", "SPORTS", "sports", "polymarket", "native",
		"7d", "30d",
		"signal.created", a.Market, a.CallID, a.Handle, openapi.NoID, "123456", "native-abc", "2027-01-01T00:00:00Z",
	}
}

type prober struct {
	s         *stack.Stack
	doc       *openapi.Document
	crowd     *stack.Crowd
	author    *stack.Author
	operators []*stack.Operator
	markets   []string
	pairs     int // number of pairs of operator and market that have been used
	times     *stack.Times
}

func (p *prober) do(t *testing.T, method, url string, sets ...stack.Set) {
	began := time.Now()
	a := p.crowd.Retry(t, method, url, sets...)
	p.times.Add(time.Since(began))
	if a.Status >= 500 && a.Code() != "venue_unavailable" && a.Status != http.StatusNotImplemented {
		t.Errorf("%s %.200s was answered %d: %.200s", method, url, a.Status, a.Body)
	}
}

// send sends every text in every text member of the write routes. It also sends every text in the parameters and paths of one
// sixth of the public reads, or of all public reads with SYSTEM_SIZE=full.
func (p *prober) send(t *testing.T, texts []string) {
	var requests []func()
	share := stack.Size(t, 6, 6, 1) // one in share reads gets a text
	for i, text := range texts {
		for n, o := range p.doc.Operations {
			if o.Method == http.MethodGet && o.Public() && !o.Streams() && !o.Health() && (n+i)%share == 0 {
				requests = append(requests, p.reads(t, o, i, text)...)
			}
		}
		requests = append(requests, p.writes(t, i, text)...)
	}
	stack.Each(len(requests), 4, func(i int) { requests[i]() })
}

func (p *prober) reads(t *testing.T, o *openapi.Operation, i int, text string) (out []func()) {
	existing := map[string]string{"marketId": p.author.Market, "handle": p.author.Handle, "id": p.author.CallID}
	for _, parameter := range o.Parameters() {
		path := o.Fill(existing)
		switch {
		case parameter.In == "query":
			path += "?" + url.Values{parameter.Name: {text}}.Encode()
		case parameter.In == "path" && text != "":
			path = o.Fill(map[string]string{parameter.Name: url.PathEscape(text)})
		default:
			continue
		}
		out = append(out, func() { p.do(t, http.MethodGet, p.s.Base(o.Host, i)+path) })
	}
	return out
}

// writes returns requests to the write routes, each with the text in one member. Each call that is filed with a key uses a
// different pair of operator and market, so that it is stored. Routes that need a login or a session are rate limited and
// receive only one text in six.
func (p *prober) writes(t *testing.T, i int, text string) (out []func()) {
	for n, w := range p.s.WriteRoutes(p.author) {
		o := p.doc.Find(t, w.Service, w.Method, w.Path)
		byKey := o.Takes("operatorKey") && w.Name != "call by session"
		if w.Body == nil || !byKey && !o.Takes("adminSecret") && i%6 != n%6 {
			continue
		}
		for _, at := range openapi.TextPaths(o.Body()) {
			if len(at) > 1 {
				continue
			}
			operator, market := p.nextPair()
			change := stack.JSON{at[0]: text}
			if w.Name == "call by key" && at[0] != "marketId" {
				change["marketId"] = market
			}
			sets := w.Sets(change)
			if byKey {
				sets = append(sets, stack.Bearer(operator.Key))
			}
			out = append(out, func() { p.do(t, w.Method, p.s.Base(w.Service, i)+w.Path, sets...) })
		}
	}
	operator, _ := p.nextPair()
	escaped := url.QueryEscape(text)
	headers := func(r *http.Request) {
		for _, name := range []string{"Idempotency-Key", "X-Request-Id", "If-None-Match"} {
			r.Header.Set(name, escaped+"k")
		}
	}
	call := stack.Body(stack.Call(p.author.Market, "YES", 5000))
	return append(out,
		func() {
			p.do(t, http.MethodPost, p.s.HubAt(i)+"/api/predictions", stack.Bearer(operator.Key), call, headers)
		},
		func() { p.do(t, http.MethodDelete, p.s.HubAt(i)+"/api/dev/keys?id="+escaped, stack.Bearer("a.b.c")) },
		func() {
			cookies := stack.Header("Cookie", "db_uid="+escaped+"; db_sig="+escaped)
			p.do(t, http.MethodGet, p.s.HubAt(i)+"/api/m/"+p.author.Market+"/crowd", cookies)
		})
}

// nextPair returns an operator and a market on which the operator has no call.
func (p *prober) nextPair() (*stack.Operator, string) {
	n := p.pairs
	p.pairs++
	return p.operators[n%len(p.operators)], p.markets[n/len(p.operators)%len(p.markets)]
}
