package record

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	answer "github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/verbs"
)

// Commands groups the commands of `signalcast record`, which download and verify the record of an operator.
type Commands struct {
	Verify verifyCommand `cmd:"" help:"Compute every number of a record again from its lines and print each difference. The exit code is 1 if there is one."`
	Get    getCommand    `cmd:"" help:"Download the record of an operator."`
}

type verifyCommand struct {
	From string `arg:"" name:"file-or-url" help:"File with the record, - for the standard input, or an http or https address."`
	Key  string `help:"Public key of the ledger, as api fsck prints it. The checkpoint of the record must be signed with it." placeholder:"NAME+HASH+KEY"`

	RequireOrigin bool `help:"Fail with exit code 1 unless proofs of the public log verify the origin of the record."`
}

// Run verifies the record and prints the result.
func (v *verifyCommand) Run(ctx context.Context, s *verbs.Streams) error {
	if err := s.Only("record verify writes lines of text or JSON", "json", "table"); err != nil {
		return err
	}
	opts := Options{Now: time.Now()}
	if v.Key != "" {
		var err error
		if opts.Key, err = note.NewVerifier(v.Key); err != nil {
			return errors.New("--key must be the public key of the ledger in the form NAME+HASH+KEY, as `api fsck` prints it")
		}
	}
	from, err := open(ctx, v.From, s)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	return v.report(from, s.Out, s.JSON, opts)
}

// report verifies a record and writes the result to out. It returns the errors of Verify. If there is no error but the origin
// is required, it returns ErrOrigin, because the origin cannot be verified.
func (v *verifyCommand) report(from io.Reader, out io.Writer, asJSON bool, opts Options) error {
	var lines bytes.Buffer
	to := out
	if asJSON {
		to = &lines
	}
	got, err := Verify(from, to, opts)
	if err != nil && !errors.Is(err, ErrDiffers) {
		return err
	}
	if asJSON {
		raw, wrong := json.Marshal(got.result(lines.String()))
		if wrong == nil {
			wrong = answer.JSON(out, raw)
		}
		err = errors.Join(err, wrong)
	} else if err == nil {
		_, err = fmt.Fprintln(out, got.summary())
	}
	if err == nil && v.RequireOrigin {
		return ErrOrigin
	}
	return err
}

// resultJSON is the JSON output of record verify.
type resultJSON struct {
	Handle      string   `json:"handle"`
	Source      string   `json:"source"`
	AsOf        plain    `json:"asOf"`
	Calls       int64    `json:"calls"`
	Events      int64    `json:"events"`
	Scoring     int64    `json:"scoring"`
	Unpriced    int64    `json:"unpriced"`
	Arithmetic  string   `json:"arithmetic"` // "verified" or "differs"
	Origin      string   `json:"origin"`     // always originState
	Differences []string `json:"differences"`
}

// originState is the output for the origin of every record. The origin is never verified: a record contains no proofs of the
// public log, and a checkpoint alone does not contain the lines of the record.
const originState = "not verified"

// result returns the JSON output of the command. The parameter lines contains one difference per line.
func (v *Result) result(lines string) resultJSON {
	out := resultJSON{
		Handle: v.Handle, Source: v.Source, AsOf: stamp(&v.AsOf), Calls: v.Calls, Events: v.Events,
		Scoring: v.Scoring, Unpriced: v.Unpriced, Arithmetic: "verified", Origin: originState, Differences: []string{},
	}
	if v.Differences > 0 {
		out.Arithmetic = "differs"
	}
	for line := range strings.Lines(lines) {
		out.Differences = append(out.Differences, strings.TrimSuffix(line, "\n"))
	}
	return out
}

// summary returns the output for a record without differences.
func (v *Result) summary() string {
	out := fmt.Sprintf("%q as of %s: all numbers are correct (calls: %d, events: %d)", v.Handle, stamp(&v.AsOf), v.Calls, v.Events)
	if v.Scoring > 0 {
		out += fmt.Sprintf("; calls that are still being scored: %d", v.Scoring)
	}
	if v.Unpriced > 0 {
		out += fmt.Sprintf("; verified calls without a stored quote, whose scoring price could not be recomputed: %d", v.Unpriced)
	}
	if v.Unsigned {
		out += "; the signature of the checkpoint was not checked (--key)"
	}
	return out + "\narithmetic verified; origin " + originState
}

type getCommand struct {
	Handle string `arg:"" help:"Handle of the operator."`
	settings.Home
	Format string `help:"Format: jsonl or csv." enum:"jsonl,csv" default:"jsonl"`
	Out    string `short:"o" help:"File to write. Default: the standard output." type:"path"`
}

// Run downloads the record to the standard output or to a file. It writes the file under a temporary name and renames it when
// the record is complete.
func (g *getCommand) Run(ctx context.Context, s *verbs.Streams) error {
	if err := s.Only("record get writes the record in the form of --format"); err != nil {
		return err
	}
	hub, err := g.Address()
	if err != nil {
		return err
	}
	from, err := fetch(ctx, hub+"/api/operator/"+url.PathEscape(g.Handle)+"/record?format="+g.Format, s)
	if errors.Is(err, errNotFound) {
		return fmt.Errorf("%w: no operator has the handle %s; find a handle with `signalcast board`", err, g.Handle)
	}
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	if g.Out == "" {
		return copyRecord(s.Out, from, g.Format)
	}
	part := g.Out + ".part"
	to, err := os.Create(part)
	if err != nil {
		return err
	}
	err = errors.Join(copyRecord(to, from, g.Format), to.Close())
	if err == nil {
		err = os.Rename(part, g.Out)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return nil
}

// open opens a record. The parameter from is a file name, "-" for the standard input, or an http or https URL.
func open(ctx context.Context, from string, s *verbs.Streams) (io.ReadCloser, error) {
	switch {
	case from == "-":
		return io.NopCloser(s.In), nil
	case strings.HasPrefix(from, "http://"), strings.HasPrefix(from, "https://"):
		return fetch(ctx, from, s)
	}
	f, err := os.Open(from)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		_ = f.Close()
		return nil, fmt.Errorf("%s is a directory; name a file", from)
	}
	return f, nil
}

// errNotFound is the error of a download that the service answered with 404.
var errNotFound = errors.New("record not found")

// fetch sends a GET request and returns the body of the response. It returns errNotFound for 404, and an ask.Unavailable for
// 5xx or if the service cannot be reached. For any other status than 200 it returns an error with the status.
func fetch(ctx context.Context, address string, s *verbs.Streams) (io.ReadCloser, error) {
	limit := cmp.Or(s.Timeout, ask.DefaultTimeout)
	ctx, cancel := context.WithCancelCause(ctx)
	silence := time.AfterFunc(limit, func() { cancel(ask.NoAnswer{Limit: limit}) })
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		if u := (*url.Error)(nil); errors.As(err, &u) {
			u.Err = cmp.Or(context.Cause(ctx), u.Err)
		}
		_, err = ask.Read(nil, err)
		return nil, err
	}
	switch {
	case a.StatusCode == http.StatusNotFound:
		_ = a.Body.Close()
		return nil, errNotFound
	case a.StatusCode >= 500:
		_, err := ask.Read(a, nil)
		return nil, err
	case a.StatusCode != http.StatusOK:
		body, _ := io.ReadAll(io.LimitReader(a.Body, 1<<10)) // a read error leaves the message of the service shorter
		_ = a.Body.Close()
		return nil, fmt.Errorf("%s answered with status %d: %q", address, a.StatusCode, bytes.TrimSpace(body))
	}
	return &downloadReader{a.Body, func() error { return context.Cause(ctx) }, silence, limit}, nil
}

// downloadReader reads a download. It converts read errors to ask.Unavailable, so that callers can distinguish them from errors
// of the output file.
type downloadReader struct {
	io.ReadCloser
	cause   func() error // error that ended the request early; nil if none
	silence *time.Timer  // ends the request
	limit   time.Duration
}

// Read implements io.Reader. It postpones the end of the request by the time limit, so that only silence ends a download.
func (d *downloadReader) Read(p []byte) (int, error) {
	d.silence.Reset(d.limit)
	n, err := d.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = ask.Truncated(cmp.Or(d.cause(), err))
	}
	return n, err
}

// copyRecord copies a record. It returns an error if the last line is not the end line of a record in this format, because the
// download is then incomplete.
func copyRecord(to io.Writer, from io.Reader, format string) error {
	last := &tail{to: to}
	if _, err := io.Copy(last, from); err != nil {
		return fmt.Errorf("the record is incomplete: %w", err)
	}
	mark := `{"type":"end",`
	if format == "csv" {
		mark = "end,"
	}
	lines := bytes.Split(bytes.TrimRight(last.end, "\r\n"), []byte("\n"))
	if !bytes.HasPrefix(lines[len(lines)-1], []byte(mark)) {
		return ask.Truncated(errors.New("the record has no last line of type end"))
	}
	return nil
}

// tail is a writer that passes all bytes to another writer and stores the last tailSize bytes.
type tail struct {
	to  io.Writer
	end []byte
}

// tailSize is the number of bytes that a tail stores. It must be more than the length of the last line of a record.
const tailSize = 8 << 10

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.end = append(t.end, p...)
	if n := len(t.end) - tailSize; n > 0 {
		t.end = append(t.end[:0], t.end[n:]...)
	}
	return t.to.Write(p)
}
